// Arranges the ranks: chooses the number of cards per row and the number of slots per row of a card so that slots are
// large.

const CARD = {gap: 8, padding: 6, head: 20, label: 15, minGap: 2, minLabel: 4, digit: 7, tight: 44};
const CELL = {minWidth: 7, minHeight: 6, maxWidth: 112, maxHeight: 56};

/// Returns the largest size of each buffer over all ranks; 0 if no rank has it.
function bufferSizes(model) {
  return model.buffers.map((_, buffer) =>
    Math.max(...Array.from({length: model.ranks}, (_, rank) => model.sizes[rank * model.buffers.length + buffer])));
}

/// Returns the least width of the cells in a card. The rank's number above the cells must fit.
function leastWidth(model) {
  return CARD.digit * String(model.ranks - 1).length;
}

/// Returns the size of a cell if there are `across` cards per row and `wide` cells per row of a card.
function cellSize(model, sizes, across, wide, width, height) {
  const present = sizes.filter((size) => size !== 0);
  const gap = model.ranks > 24 ? CARD.minGap : CARD.gap;
  const padding = model.ranks > 24 ? 2 : CARD.padding;
  const down = Math.ceil(model.ranks / across);
  const rows = present.reduce((sum, size) => sum + Math.ceil(size / wide), 0);
  const cardWidth = (width - gap * (across + 1)) / across;
  const cardHeight = (height - gap * (down + 1)) / down;
  const cellWidth = Math.min(CELL.maxWidth, (cardWidth - 2 * padding - 2) / wide);
  const tight = cellWidth * wide < CARD.tight; // no room for the names of buffers
  const labels = present.length * (tight ? CARD.minLabel : CARD.label);
  return {
    across, wide, gap, padding, tight,
    width: cellWidth,
    height: Math.min(CELL.maxHeight, (cardHeight - CARD.head - 2 * padding - 2 - labels) / rows),
  };
}

/// Chooses the arrangement for a board of this size. If cells would be too small, the board scrolls.
function arrange(model, width, height) {
  const sizes = bufferSizes(model);
  const widest = Math.min(Math.max(1, ...sizes), 64);
  let best = null;
  for (let across = model.ranks; across >= 1; --across)
    for (let wide = 1; wide <= widest; ++wide) {
      const size = cellSize(model, sizes, across, wide, width, height);
      const fits = size.width >= CELL.minWidth && size.width * wide >= leastWidth(model);
      if (!fits && !(across === 1 && wide === 1))
        continue;
      const filled = model.ranks / (across * Math.ceil(model.ranks / across));
      const tidy = filled * (across === model.ranks ? 1.3 : 1) * (widest % wide === 0 ? 1.15 : 1);
      const score = Math.min(size.width / 1.8, size.height) * tidy;
      if (!best || score > best.score)
        best = {...size, score};
    }
  best.width = Math.max(CELL.minWidth, Math.ceil(leastWidth(model) / best.wide), Math.floor(best.width));
  best.height = Math.max(CELL.minHeight, Math.floor(best.height));
  return best;
}
