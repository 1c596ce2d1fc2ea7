// Shows a card for each rank. The card has a cell for each slot of the rank's buffers, and the cell shows the slot's
// value.

function plural(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    node.setAttribute(name, value);
  node.append(...children);
  return node;
}

class Board {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.shown = model.cells.map(() => null); // by cell: the entry of its history that it shows; null: it shows none
                                              // yet
    this.kept = model.cells.map(() => false);
    this.keptCount = 0;
    this.field = element('div', {class: 'field'});
    this.sheet = new Sheet(this.field); // shows the contents of cells; the cells themselves are transparent
    this.nodes = [];
    for (let rank = 0; rank !== model.ranks; ++rank)
      this.field.append(this.makeCard(rank));
    root.append(this.field);
  }

  makeCard(rank) {
    const name = element('h2', {style: `--origin: ${this.model.rankColors[rank]}`}, element('i'),
                         element('span', {class: 'word'}, 'rank '), String(rank));
    const card = element('article', {class: 'card', 'aria-label': `rank ${rank}`}, name);
    this.model.buffers.forEach((buffer, b) => {
      const size = this.model.sizes[rank * this.model.buffers.length + b];
      if (size === 0)
        return;
      const cells = element('div', {class: 'cells'});
      for (let index = 0; index !== size; ++index)
        cells.append(this.makeCell(this.model.cells[this.model.cellAt(rank, b, index)]));
      const title = this.bufferTitle(rank, b);
      card.append(element('h3', {title}, title), cells); // a tooltip, because the title does not fit into narrow cards
    });
    return card;
  }

  /// Returns the title of a buffer. In place, the title of the outer buffer also names the inner buffer and its slots.
  bufferTitle(rank, buffer) {
    const name = this.model.buffers[buffer];
    const [holder, first, count] = (buffer === 0 ? this.model.outputs : this.model.inputs)[rank];
    if (buffer > 1 || holder !== buffer || count === 0)
      return name;
    const other = this.model.buffers[1 - buffer];
    const isAll = count === this.model.sizes[rank * this.model.buffers.length + buffer];
    return isAll ? `${name} = ${other}` : `${name}, ${other} is ${sliceText(first, count)}`;
  }

  makeCell(cell) {
    const node = element('div', {class: 'cell', role: 'img', 'data-cell': cell.id}, element('span'));
    this.nodes.push(node);
    return node;
  }

  layout() {
    const size = arrange(this.model, this.root.clientWidth, this.root.clientHeight);
    const style = this.field.style;
    style.setProperty('--across', size.across);
    style.setProperty('--wide', size.wide);
    style.setProperty('--cell-width', `${size.width}px`);
    style.setProperty('--cell-height', `${size.height}px`);
    style.setProperty('--cell-gap', `${size.height >= 14 && size.width >= 20 ? 3 : 1}px`);
    style.setProperty('--card-gap', `${size.gap}px`);
    style.setProperty('--card-padding', `${size.padding}px`);
    this.field.classList.toggle('bare', size.width < 28 || size.height < 14);
    this.field.classList.toggle('tiny', size.width < 12 || size.height < 12);
    this.field.classList.toggle('narrow', size.width * size.wide < 62);
    this.field.classList.toggle('tight', size.tight);
    this.cellHeight = size.height;
    this.measure();
    this.sheet.resize();
    this.shown.fill(null);
    this.paper = themeColor('--card');
  }

  /// Measures the positions of cells, for drawings over them.
  measure() {
    const origin = this.field.getBoundingClientRect();
    this.boxes = this.nodes.map((node) => {
      const box = node.getBoundingClientRect();
      return {x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height};
    });
  }

  show(time) {
    for (const cell of this.model.cells) {
      const held = this.model.heldAt(cell, time);
      if (held !== this.shown[cell.id])
        this.fill(cell, held);
    }
  }

  fill(cell, held) {
    const node = this.nodes[cell.id];
    this.shown[cell.id] = held;
    this.paint(this.boxes[cell.id], held);
    node.classList.toggle('full', held !== undefined);
    const kept = this.model.keeps(cell, held);
    this.keptCount += kept - this.kept[cell.id];
    this.kept[cell.id] = kept;
    node.classList.toggle('kept', kept);
    node.firstChild.textContent = this.label(held, kept);
    node.setAttribute('aria-label', this.describe(cell, held));
  }

  paint(box, held) {
    const context = this.sheet.context;
    context.clearRect(box.x, box.y, box.width, box.height);
    if (!held)
      return;
    context.save();
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, this.field.classList.contains('bare') ? 1 : 4);
    context.clip();
    context.fillStyle = this.paper;
    context.fillRect(box.x, box.y, box.width, box.height);
    paintValue(context, this.model, held.value, box);
    context.restore();
  }

  /// Returns the text of a cell. Without reductions, the text is the input slot of the cell's value. With reductions,
  /// stripes show the value, and the text only marks a finished cell.
  label(held, kept) {
    if (held && !this.model.reduces)
      return this.model.fullText(held.value);
    return kept ? '✓' : '';
  }

  describe(cell, held) {
    const place = `rank ${cell.rank} ${this.model.sliceText(cell.buffer, cell.index, 1)}`;
    return `${place} ${held ? `holds ${this.model.fullText(held.value)}` : 'is empty'}`;
  }

  /// Outlines the slots that a step reads and writes. If `step` is null, removes the outlines.
  choose(step) {
    for (const node of this.root.querySelectorAll('.reads, .writes'))
      node.classList.remove('reads', 'writes');
    if (!step)
      return;
    step.src.forEach((cell) => this.nodes[cell].classList.add('reads'));
    step.dst.forEach((cell) => this.nodes[cell].classList.add('writes'));
  }

  /// Returns the lines of the tooltip of a cell.
  explain(id) {
    const cell = this.model.cells[id];
    const held = this.shown[id];
    const lines = [`rank ${cell.rank} ${this.model.sliceText(cell.buffer, cell.index, 1)}`];
    if (cell.inputSlot >= 0 && cell.buffer !== 0)
      lines[0] += ` = input[${cell.inputSlot}]`;
    if (cell.outputSlot >= 0 && cell.buffer !== 1)
      lines[0] += ` = output[${cell.outputSlot}]`;
    lines.push(held ? `holds ${this.model.valueText(held.value, 48)}` : 'nothing yet');
    if (held && held.step >= 0)
      lines.push(`from ${this.model.stepName(this.model.steps[held.step])}, tick ${held.tick}`);
    if (this.kept[id])
      lines.push('✓ as the collective promises');
    else if (cell.wanted)
      lines.push(`promised: ${plural(cell.wanted.set.size, 'input slot')}`);
    return lines;
  }
}
