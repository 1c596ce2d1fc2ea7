// Colours. Each rank has a hue, which marks the values of its input; each channel has another hue.

/// Returns a rank's colour. Neighbouring ranks have neighbouring hues. With more than 8 ranks, every second colour is
/// darker.
function rankColor(rank, ranks) {
  const hue = (25 + 360 * rank / ranks) % 360;
  const isDarker = ranks > 8 && rank % 2 === 1;
  return `oklch(${isDarker ? '0.7 0.13' : '0.78 0.145'} ${hue.toFixed(1)})`;
}

/// Returns a channel's colour. Hues differ by the golden angle, so that each hue is far from the hues of lower
/// channels.
function channelColor(channel) {
  return `oklch(var(--bar-lightness) 0.12 ${((250 + 137.508 * channel) % 360).toFixed(1)})`;
}

/// Returns the coloured stripes of a value as [begin, end, rank], in fractions of a cell that is `width` pixels wide.
/// In a sum, each rank has a fixed position, so that a missing rank is visible. If these stripes would be too narrow,
/// the stripes together fill the fraction of the cell that equals the fraction of ranks in the sum. A value that was
/// only moved fills the cell.
function stripes(model, value, width) {
  const ranks = model.origins(value);
  if (!model.reduces)
    return ranks.map((rank) => [0, 1, rank]);
  if (width >= 2 * model.ranks)
    return ranks.map((rank) => [rank / model.ranks, (rank + 1) / model.ranks, rank]);
  const all = Math.max(ranks.length / model.ranks, Math.min(1, 3 / width));
  const count = Math.min(ranks.length, Math.ceil(all * width)); // at most one stripe per pixel
  return Array.from({length: count}, (_, i) =>
    [all * i / count, all * (i + 1) / count, ranks[Math.floor(i * ranks.length / count)]]);
}

/// Fills a box with the colours of a value.
function paintValue(context, model, value, {x, y, width, height}) {
  for (const [begin, end, rank] of stripes(model, value, width)) {
    context.fillStyle = model.rankColors[rank];
    context.fillRect(x + begin * width, y, (end - begin) * width + 0.5, height); // half a pixel wider, to avoid seams
  }
}

/// A canvas that covers a node, for drawing in the node's coordinates.
class Sheet {
  constructor(node) {
    this.node = node;
    this.canvas = element('canvas', {'aria-hidden': 'true'});
    this.context = this.canvas.getContext('2d');
    node.append(this.canvas);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.node.offsetWidth;
    this.height = this.node.offsetHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  clear() {
    this.context.clearRect(0, 0, this.width, this.height);
  }
}

/// Returns a colour of the style sheet.
function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
