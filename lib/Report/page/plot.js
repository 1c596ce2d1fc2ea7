// A plot of curves over sizes. Both axes are logarithmic. The mouse, a finger or the arrow keys choose a size, and a
// tooltip shows the values there.

const FRAME = {left: 58, right: 14, top: 26, bottom: 40, height: 300};

/// Returns the sizes' axis for a plot that is `width` pixels wide: a group of lines and labels.
function drawSizes(sizes, scale, top, bottom) {
  const ticks = sizeTicks(sizes, scale, 62).map((size) => {
    const x = scale.at(size);
    return svg('g', {}, svg('line', {class: 'grid', x1: x, x2: x, y1: top, y2: bottom}),
      svg('text', {class: 'size', x, y: bottom + 16, 'text-anchor': 'middle'}, formatSize(size)));
  });
  const middle = (scale.begin + scale.end) / 2;
  return svg('g', {}, ...ticks, svg('text', {class: 'name', x: middle, y: bottom + 34, 'text-anchor': 'middle'}, 'Size'));
}

class Plot {
  /// `kind` names the plot; `unit` names its y axis; `format` makes texts of values. A curve has `name`, `style`,
  /// `values` by size (null: none), `labels`, and `isBackground`.
  constructor({kind, title, hint, unit, format, sizes, curves, hasOne = false}) {
    Object.assign(this, {kind, unit, format, sizes, curves, hasOne, hidden: new Set(), chosen: null, width: 0});
    this.picture = svg('svg', {class: 'plot', tabindex: 0, role: 'img', 'data-kind': kind, 'aria-label': `${title} by size`});
    this.card = element('section', {class: 'card', 'aria-label': title},
      element('h3', {}, title, element('span', {class: 'hint'}, hint)), this.picture);
    this.picture.addEventListener('pointermove', (event) => this.point(event));
    this.picture.addEventListener('pointerdown', (event) => this.point(event));
    for (const kind of ['pointerleave', 'blur'])
      this.picture.addEventListener(kind, () => this.choose(null));
    this.picture.addEventListener('keydown', (event) => this.onKey(event));
  }

  visible() {
    return this.curves.filter((_, i) => !this.hidden.has(i));
  }

  draw(width = this.width) {
    this.width = width;
    const {left, right, top, bottom, height} = FRAME;
    const values = this.visible().flatMap((curve) => curve.values.filter((value) => value !== null && value > 0));
    const [low, high] = paddedRange(values.length ? this.hasOne ? [...values, 1] : values : [1, 10]);
    this.x = sizeScale(this.sizes, left, width - right);
    this.y = new LogScale(low, high, height - bottom, top);
    this.cursor = svg('g', {'aria-hidden': 'true'});
    this.picture.setAttribute('height', height);
    this.picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.picture.replaceChildren(drawSizes(this.sizes, this.x, top, height - bottom), this.drawValues(low, high, width),
      ...this.drawCurves(true), ...this.drawCurves(false), this.cursor);
  }

  drawValues(low, high, width) {
    const {left, right, top} = FRAME;
    const lines = valueTicks(low, high).map((value) => {
      const y = this.y.at(value);
      return svg('g', {}, svg('line', {class: 'grid', x1: left, x2: width - right, y1: y, y2: y}),
        svg('text', {class: 'value', x: left - 7, y: y + 4, 'text-anchor': 'end'}, formatNumber(value)));
    });
    if (this.hasOne) {
      const y = this.y.at(1);
      lines.push(svg('line', {class: 'one', x1: left, x2: width - right, y1: y, y2: y}));
    }
    return svg('g', {}, ...lines, svg('text', {class: 'name', x: 0, y: top - 12}, this.unit));
  }

  /// Curves in the background lie under the others.
  drawCurves(isBackground) {
    return this.curves.flatMap((curve, i) => curve.isBackground === isBackground ? [this.drawCurve(curve, i)] : []);
  }

  /// Draws a line through all values, with a gap where a value is missing, and points if there are few sizes.
  drawCurve(curve, number) {
    const group = svg('g', {'data-curve': curve.name});
    if (this.hidden.has(number))
      return group;
    let path = '', isOpen = false;
    curve.values.forEach((value, i) => {
      isOpen = isOpen && value !== null && value > 0;
      if (value === null || value <= 0)
        return;
      const [x, y] = [this.x.at(this.sizes[i]).toFixed(1), this.y.at(value).toFixed(1)];
      path += `${isOpen ? 'L' : 'M'}${x} ${y}`;
      isOpen = true;
      if (!curve.isBackground && this.sizes.length <= 40) {
        const dot = svg('circle', {cx: x, cy: y, r: 2.6});
        dot.style.fill = curve.style.color;
        group.append(dot);
      }
    });
    const line = svg('path', {class: curve.isBackground ? 'curve background' : 'curve', d: path});
    if (!curve.isBackground) {
      line.style.stroke = curve.style.color;
      line.style.strokeDasharray = curve.style.dashes;
    }
    group.prepend(line);
    return group;
  }

  point(event) {
    const box = this.picture.getBoundingClientRect();
    const x = (event.clientX - box.left) * this.width / box.width;
    const far = (i) => Math.abs(this.x.at(this.sizes[i]) - x);
    const nearest = this.sizes.reduce((best, _, i) => far(i) < far(best) ? i : best, 0);
    this.choose(nearest, event.clientX, event.clientY);
  }

  onKey(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === 'Escape')
      this.choose(null);
    if (!step)
      return;
    event.preventDefault();
    const next = this.chosen === null ? 0 : Math.min(this.sizes.length - 1, Math.max(0, this.chosen + step));
    const box = this.picture.getBoundingClientRect();
    this.choose(next, box.left + this.x.at(this.sizes[next]) * box.width / this.width, box.top + FRAME.top);
  }

  /// Shows the values at a size, or no values if `number` is null.
  choose(number, x, y) {
    this.chosen = number;
    this.cursor.replaceChildren();
    if (number === null)
      return hideTip();
    const at = this.x.at(this.sizes[number]);
    this.cursor.append(svg('line', {class: 'cursor', x1: at, x2: at, y1: FRAME.top, y2: FRAME.height - FRAME.bottom}));
    const lines = this.visible().filter((curve) => curve.values[number] !== null && !curve.isBackground)
      .map((curve) => {
        const label = curve.labels[number] ? `${curve.name} (${curve.labels[number]})` : curve.name;
        return [sampleLine(curve.style), label, this.format(curve.values[number])];
      });
    showTip(x, y, formatSize(this.sizes[number]), lines);
  }
}
