// Shows thread blocks over time: a row for each thread block, a bar for each step, and a cursor at the time of the
// slider.

const ROW = {height: 18, rankGap: 5, axis: 20, top: 2, bottom: 6, gutter: 92};

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes))
    node.setAttribute(name, value);
  node.append(...children);
  return node;
}

class Timeline {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.rowTop = [];
    model.threadBlocks.forEach((block, b) => {
      const previous = model.threadBlocks[b - 1];
      const gap = previous && previous.rank !== block.rank ? ROW.rankGap : 0;
      this.rowTop.push(b === 0 ? ROW.top : this.rowTop[b - 1] + ROW.height + gap);
    });
    this.height = (this.rowTop.at(-1) ?? 0) + ROW.height + ROW.bottom;
    this.gutter = this.makeGutter();
    const summary = `${plural(model.steps.length, 'step')} of ${plural(model.threadBlocks.length, 'thread block')}`;
    this.picture = svg('svg', {height: this.height, role: 'img', 'aria-label': summary});
    this.axis = svg('svg', {class: 'axis', height: ROW.axis, 'aria-hidden': 'true'});
    this.lines = svg('g', {class: 'axis'});
    this.bars = svg('g', {class: 'bars'});
    this.links = svg('svg', {class: 'links', height: this.height, 'aria-hidden': 'true'});
    this.cursor = element('div', {class: 'cursor'}); // separate from the picture, because it moves often
    this.handle = svg('path', {class: 'handle', d: 'M-5 13h10l-5 7z'});
    this.nodes = model.steps.map((step) => this.makeBar(step));
    this.bars.append(...this.nodes);
    this.picture.append(this.lines, this.bars);
    const plot = element('div', {class: 'plot'}, this.picture, this.cursor, this.links);
    const corner = element('div', {class: 'corner'});
    root.append(element('div', {class: 'tracks'}, corner, this.axis, this.gutter, plot));
  }

  makeGutter() {
    const gutter = element('div', {class: 'gutter', style: `height: ${this.height}px; width: ${ROW.gutter}px`});
    this.model.threadBlocks.forEach((block, b) => {
      const isFirst = block.index === 0;
      gutter.append(element('span', {style: `top: ${this.rowTop[b]}px`, class: isFirst ? 'first' : ''},
                            element('b', {}, isFirst ? `rank ${block.rank}` : ''), `tb ${block.index}`));
    });
    return gutter;
  }

  makeBar(step) {
    const top = this.rowTop[step.block];
    return svg('g', {class: 'bar', 'data-step': step.id, style: `--channel: ${channelColor(step.channel)}`},
               svg('rect', {y: top + 1.5, height: ROW.height - 3, rx: 3}), svg('text', {y: top + 12.5}, step.opcode));
  }

  x(time) {
    return time * this.tickWidth + 8;
  }

  /// Returns the time at an x coordinate of the window.
  timeAt(clientX) {
    const left = this.picture.getBoundingClientRect().left;
    return Math.max(0, Math.min(this.model.ticks, (clientX - left - 8) / this.tickWidth));
  }

  layout() {
    const room = this.root.clientWidth - ROW.gutter - 20;
    this.tickWidth = Math.max(9, Math.min(140, room / Math.max(1, this.model.ticks)));
    for (const part of [this.picture, this.axis])
      part.setAttribute('width', Math.max(room + 16, this.model.ticks * this.tickWidth + 16));
    this.picture.classList.toggle('bare', this.tickWidth < 30);
    this.model.steps.forEach((step, i) => {
      const [rect, text] = this.nodes[i].children;
      rect.setAttribute('x', this.x(step.tick) + 1);
      rect.setAttribute('width', this.tickWidth - 2);
      text.setAttribute('x', this.x(step.tick + 0.5));
    });
    this.drawAxis();
    this.choose(this.chosen);
  }

  drawAxis() {
    const stride = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * this.tickWidth >= 28) ?? 2000;
    const ticks = Array.from({length: Math.floor(this.model.ticks / stride) + 1}, (_, i) => i * stride);
    const line = (x) => svg('line', {x1: x, x2: x, y1: 0, y2: this.height});
    this.lines.replaceChildren(...ticks.map((tick) => line(this.x(tick))));
    this.axis.replaceChildren(...ticks.map((tick) => svg('text', {x: this.x(tick), y: 12}, String(tick))), this.handle);
  }

  show(time, follow) {
    const x = this.x(time);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.handle.setAttribute('transform', `translate(${x} 0)`);
    const left = this.root.scrollLeft;
    const room = this.root.clientWidth - ROW.gutter;
    if (follow && (x < left || x > left + room - 40))
      this.root.scrollLeft = x - room / 3;
  }

  center(step) {
    return [this.x(step.tick + 0.5), this.rowTop[step.block] + ROW.height / 2];
  }

  /// Shows a step, its messages and its waits. If `step` is null, removes them.
  choose(step) {
    this.chosen = step;
    this.links.replaceChildren();
    if (!step)
      return;
    this.links.append(this.nodes[step.id].firstChild.cloneNode());
    const link = (from, to, kind) => {
      const [ax, ay] = [this.x(from.tick + 1) - 4, this.center(from)[1]]; // from the end of one bar to the beginning of
                                                                          // the other, without covering the names
      const [bx, by] = [this.x(to.tick) + 4, this.center(to)[1]];
      const middle = (ax + bx) / 2;
      this.links.append(svg('path', {class: kind, d: `M${ax} ${ay} C${middle} ${ay} ${middle} ${by} ${bx} ${by}`}),
                        svg('circle', {class: kind, cx: bx, cy: by, r: 3.5}));
    };
    const steps = this.model.steps;
    if (step.sender >= 0)
      link(steps[step.sender], step, 'message');
    if (step.receiver >= 0)
      link(step, steps[step.receiver], 'message');
    step.waits.forEach((wait) => link(steps[wait], step, 'wait'));
  }

  /// Scrolls so that the chosen step is visible.
  reveal(step) {
    const [x, y] = this.center(step);
    const view = this.root;
    if (y < view.scrollTop || y > view.scrollTop + view.clientHeight - ROW.axis - ROW.height)
      view.scrollTop = y - view.clientHeight / 2;
    if (x < view.scrollLeft + 20 || x > view.scrollLeft + view.clientWidth - ROW.gutter - 40)
      view.scrollLeft = x - (view.clientWidth - ROW.gutter) / 2;
  }
}
