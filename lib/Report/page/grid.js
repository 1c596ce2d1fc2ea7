// Pictures of a value for each row and size: heat maps, and columns whose parts add up.

/// Returns the left and right edges of the columns of sizes. Columns have equal widths.
function columnsOf(sizes, left, width) {
  const each = (width - left - 2) / sizes.length;
  return sizes.map((_, i) => [left + i * each, left + (i + 1) * each]);
}

/// Returns labels under columns, as many as fit.
function columnLabels(labels, columns, y) {
  const wide = columns[0][1] - columns[0][0];
  const step = Math.ceil(62 / wide);
  return labels.flatMap((label, i) => {
    const [begin, end] = columns[i];
    const place = step > 1 && i === 0 ? {x: begin, 'text-anchor': 'start'} : {x: (begin + end) / 2, 'text-anchor': 'middle'};
    return i % step ? [] : [svg('text', {class: 'size', y, ...place}, label)];
  });
}

function formatShare(value) {
  return `${formatNumber(100 * value)} %`;
}

/// Cuts a text that is longer than `most` characters in the middle.
function shorten(text, most) {
  const half = Math.floor((most - 1) / 2);
  return text.length <= most ? text : `${text.slice(0, most - 1 - half)}…${text.slice(text.length - half)}`;
}

class GridPicture {
  /// `labels` are those of the columns: sizes, or as `by` says.
  constructor(kind, title, hint, grid, labels, by = 'size') {
    Object.assign(this, {grid, labels, width: 0});
    this.picture = svg('svg', {class: 'plot', role: 'img', 'data-kind': kind, 'aria-label': `${title} by ${by}`});
    this.card = element('section', {class: 'card', 'aria-label': title},
      element('h3', {}, title, ...hint), this.picture);
    if (grid.note)
      this.card.append(element('p', {class: 'hint note'}, grid.note));
    this.picture.addEventListener('pointerleave', hideTip);
  }
  /// Adds the tooltip of a cell.
  connect(cell, row, column, value) {
    const show = (event) => showTip(event.clientX, event.clientY, this.labels[column], [[null, row, formatShare(value)]]);
    cell.addEventListener('pointermove', show);
    cell.addEventListener('pointerdown', show);
    return cell;
  }
}

/// A picture in which a darker cell has a larger value.
class HeatMap extends GridPicture {
  constructor(kind, title, most, grid, ...columns) {
    super(kind, title, [element('span', {class: 'hint scale'}, '0 %', element('i'), `100 % ${most}`)], grid, ...columns);
  }

  draw(width = this.width) {
    this.width = width;
    const left = Math.min(240, width * 0.4), rows = this.grid.rows, each = 20;
    const columns = columnsOf(this.labels, left, width), bottom = rows.length * each;
    this.picture.setAttribute('height', bottom + 40);
    this.picture.setAttribute('viewBox', `0 -8 ${width} ${bottom + 40}`);
    this.picture.replaceChildren(
      ...rows.map((row, r) => svg('text', {x: left - 8, y: r * each + 14, 'text-anchor': 'end'}, svg('title', {}, row), shorten(row, left / 6.3))),
      ...rows.flatMap((row, r) => columns.map((column, c) => this.drawCell(row, r, c, column, each))),
      ...columnLabels(this.labels, columns, bottom + 18));
  }

  drawCell(row, r, c, [begin, end], height) {
    const value = this.grid.values[r * this.labels.length + c];
    const place = {x: begin, y: r * height, width: end - begin, height};
    if (value === null)
      return svg('rect', {class: 'cell none', ...place});
    const cell = svg('rect', {class: 'cell', ...place, 'data-value': value.toFixed(4)});
    cell.style.fill = `rgba(var(--heat), ${(0.06 + 0.94 * Math.min(value, 1)).toFixed(3)})`;
    return this.connect(cell, row, c, value);
  }
}

/// The parts of the critical path: a column for each size.
class PathParts extends GridPicture {
  constructor(grid, labels) {
    super('path', 'Critical path', [element('span', {class: 'hint'}, 'share of the time')], grid, labels);
    this.picture.after(element('p', {class: 'legend'}, ...grid.rows.map((row, i) =>
      element('span', {}, swatch(this.colorOf(i)), row))));
  }

  /// The last row is the rest if the rows outnumber the colours.
  colorOf(row) {
    return row < COLORS ? `var(--color-${row})` : 'var(--faint)';
  }

  draw(width = this.width) {
    this.width = width;
    const left = 46, top = 4, height = 220;
    const columns = columnsOf(this.labels, left, width);
    const lines = [0, 0.25, 0.5, 0.75, 1].map((value) => {
      const y = top + height * (1 - value);
      return svg('g', {}, svg('line', {class: 'grid', x1: left, x2: width, y1: y, y2: y}),
        svg('text', {x: left - 7, y: y + 4, 'text-anchor': 'end'}, formatShare(value)));
    });
    this.picture.setAttribute('height', height + 34);
    this.picture.setAttribute('viewBox', `0 -4 ${width} ${height + 34}`);
    this.picture.replaceChildren(...lines, ...columns.flatMap((column, c) => this.drawColumn(c, column, top, height)),
      ...columnLabels(this.labels, columns, top + height + 18));
  }

  drawColumn(c, [begin, end], top, height) {
    const cells = [];
    let y = top + height;
    this.grid.rows.forEach((row, r) => {
      const value = this.grid.values[r * this.labels.length + c];
      if (!value)
        return;
      y -= value * height;
      const cell = svg('rect', {class: 'cell', x: begin, y, width: end - begin, height: value * height});
      cell.style.fill = this.colorOf(r);
      cells.push(this.connect(cell, row, c, value));
    });
    return cells;
  }
}
