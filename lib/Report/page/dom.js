// Makes elements, formats numbers, and shows the tooltip.

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    node.setAttribute(name, value);
  node.append(...children);
  return node;
}
const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/// Returns three significant digits, without an exponent.
function formatNumber(value) {
  if (value === 0)
    return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', {maximumFractionDigits: Math.min(digits, 6)});
}

function formatTime(microseconds) {
  if (microseconds >= 1e6)
    return `${formatNumber(microseconds / 1e6)} s`;
  return microseconds >= 1e4 ? `${formatNumber(microseconds / 1e3)} ms` : `${formatNumber(microseconds)} µs`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
function formatSize(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < UNITS.length; ++unit)
    bytes /= 1024;
  return `${formatNumber(bytes)} ${UNITS[unit]}`;
}

const COLORS = 8;
const DASHES = ['', '6 4', '2 3', '9 3 2 3'];
/// Returns the colour and the dashes of a curve. More than 8 curves differ by their dashes.
function styleOf(number) {
  return {color: `var(--color-${number % COLORS})`, dashes: DASHES[Math.floor(number / COLORS) % DASHES.length]};
}

/// Returns a short line as in the plot.
function sampleLine({color, dashes}) {
  const line = svg('line', {x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': dashes});
  line.style.stroke = color;
  return svg('svg', {viewBox: '0 0 22 10', 'aria-hidden': 'true'}, line);
}
function swatch(color) {
  return element('i', {class: 'swatch', style: `background: ${color}`});
}

/// Shows the tooltip at a place of the window: a head, and lines of a mark, a text and a value.
function showTip(x, y, head, lines) {
  const tip = byId('tip');
  tip.replaceChildren(element('p', {class: 'head'}, head), ...lines.map(([mark, text, value]) =>
    element('p', {}, ...(mark ? [mark] : []), element('span', {}, text), element('b', {}, value))));
  tip.hidden = false;
  tip.style.left = '0'; // a place at the edge would make it narrow
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, x + 14 + width > innerWidth - 4 ? x - 14 - width : x + 14)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 4))}px`;
}
function hideTip() {
  byId('tip').hidden = true;
}
