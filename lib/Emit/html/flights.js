// Messages in flight, drawn over the board: tokens with the colours of their values, moving from slot to slot.

/// Returns the fraction of its path that a message has covered, from 0 to 1. The message leaves when the sender's own
/// input has landed. If no step receives it in the next tick, it waits near the end of its path.
function flightProgress(sent, received, time) {
  const ease = (x) => (x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x));
  const since = time - sent - LANDING;
  if (received === sent + 1)
    return ease(Math.min(1, since));
  if (time < received)
    return 0.82 * ease(Math.min(1, since));
  return 0.82 + 0.18 * ease(Math.min(1, (time - received) / LANDING));
}

class Flights {
  constructor(model, board) {
    this.model = model;
    this.board = board;
    this.sheet = new Sheet(board.field);
    this.context = this.sheet.context;
    this.chosen = null;
    // A message moves from the slots that its sender writes to the slots that its receiver writes. A step that writes
    // no slots is drawn at the slots that it reads.
    this.moves = model.messages.map((step) => {
      const target = model.steps[step.receiver];
      const [begin, end] = [step.tick + LANDING, target.tick + LANDING];
      return {step, from: this.seat(step), to: this.seat(target), begin, end, received: target.tick};
    });
    this.locals = model.steps.filter((step) => step.opcode === 'copy' || step.opcode === 'reduce');
  }

  seat(step) {
    return step.writes ? step.dst : step.src;
  }

  resize() {
    this.sheet.resize();
    this.ink = themeColor('--ink');
    this.accent = themeColor('--accent');
    this.paper = themeColor('--card');
    this.barLightness = themeColor('--bar-lightness');
  }

  center(cell) {
    const box = this.board.boxes[cell];
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  /// Returns a point on the path from one cell to another. Paths bend upwards, so that the two directions between two
  /// cells look different.
  point(from, to, part) {
    const [ax, ay] = this.center(from);
    const [bx, by] = this.center(to);
    const bend = Math.min(46, 0.16 * Math.hypot(bx - ax, by - ay)) * 2 * part * (1 - part) * 2;
    return [ax + (bx - ax) * part, ay + (by - ay) * part - bend];
  }

  show(time) {
    this.sheet.clear();
    if (this.chosen)
      this.drawChosen();
    for (const move of this.moves) {
      if (move.begin >= time)
        break; // moves are sorted by begin
      if (time < move.end)
        this.drawMessage(move, flightProgress(move.step.tick, move.received, time));
    }
    this.drawLocal(time);
    this.drawLandings(time);
  }

  drawMessage(move, part) {
    const {step, from, to} = move;
    for (let i = 0; i !== step.count; ++i) {
      this.drawWay(from[i], to[i], part, this.channel(step.channel));
      this.drawToken(from[i], to[i], part, step.values[i]);
    }
  }

  channel(channel) {
    return channelColor(channel).replace('var(--bar-lightness)', this.barLightness);
  }

  drawWay(from, to, part, color, dash = []) {
    const context = this.context;
    context.beginPath();
    const pieces = 14;
    for (let i = 0; i <= pieces; ++i)
      context.lineTo(...this.point(from, to, part * i / pieces));
    context.strokeStyle = color;
    context.globalAlpha = 0.55;
    context.lineWidth = 1.5;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  drawToken(from, to, part, value) {
    const context = this.context;
    const [x, y] = this.point(from, to, part);
    const box = this.board.boxes[from];
    const width = Math.max(8, Math.min(40, box.width * 0.62));
    const height = Math.max(6, Math.min(18, box.height * 0.62));
    const token = {x: x - width / 2, y: y - height / 2, width, height};
    context.save();
    context.beginPath();
    context.roundRect(token.x, token.y, width, height, Math.min(4, height / 3));
    context.fillStyle = this.paper;
    context.fill();
    context.strokeStyle = this.ink;
    context.lineWidth = 1.5;
    context.stroke();
    context.clip();
    paintValue(context, this.model, value, token);
    context.restore();
  }

  drawLocal(time) {
    for (const step of this.locals) {
      const since = time - step.tick;
      if (since <= 0 || since >= LANDING)
        continue;
      step.src.forEach((cell, i) => { // the values that the step reads, not yet combined
        const {value} = this.model.heldAt(this.model.cells[cell], step.tick);
        this.drawToken(cell, step.dst[i], since / LANDING, value);
      });
    }
  }

  /// Draws a glow at the cells where a value has just landed.
  drawLandings(time) {
    const tick = Math.floor(time);
    const since = (time - tick - LANDING) / (1 - LANDING);
    if (since <= 0 || tick >= this.model.ticks)
      return;
    this.context.strokeStyle = this.accent;
    this.context.lineWidth = Math.min(2, this.board.cellHeight / 6);
    for (const id of this.model.stepsAt[tick])
      for (const cell of this.model.steps[id].dst) {
        const box = this.board.boxes[cell];
        const grow = 1 + 3 * since;
        this.context.globalAlpha = 0.9 * (1 - since);
        this.context.beginPath();
        this.context.roundRect(box.x - grow, box.y - grow, box.width + 2 * grow, box.height + 2 * grow, 5);
        this.context.stroke();
      }
    this.context.globalAlpha = 1;
  }

  /// Draws the paths of the messages that the chosen step receives and sends.
  drawChosen() {
    const step = this.chosen;
    const link = (sender, receiver) => {
      const from = this.seat(sender);
      const to = this.seat(receiver);
      for (let i = 0; i !== sender.count; ++i)
        this.drawWay(from[i], to[i], 1, this.accent, [5, 4]);
    };
    if (step.sender >= 0)
      link(this.model.steps[step.sender], step);
    if (step.receiver >= 0)
      link(step, this.model.steps[step.receiver]);
  }
}
