// Colours: one hue for each rank whose input a value comes from, one for each channel.

/// Neighbours in the order of ranks are neighbours on the colour wheel; of many, every other one is darker.
function rankColor(rank, ranks) {
  const hue = (25 + 360 * rank / ranks) % 360;
  const isDarker = ranks > 8 && rank % 2 === 1;
  return `oklch(${isDarker ? '0.7 0.13' : '0.78 0.145'} ${hue.toFixed(1)})`;
}

/// Golden angle: any number of channels, each far from those before it.
function channelColor(channel) {
  return `oklch(var(--bar-lightness) 0.12 ${((250 + 137.508 * channel) % 360).toFixed(1)})`;
}

/// The parts of a value as [begin, end, rank], in fractions of a cell so many pixels wide. Sums give every rank its own
/// place, so that one sees what is missing; where that would be too narrow, they show how much there is. What was only
/// moved fills the cell.
function stripes(model, value, width) {
  const ranks = model.origins(value);
  if (!model.reduces)
    return ranks.map((rank) => [0, 1, rank]);
  if (width >= 2 * model.ranks)
    return ranks.map((rank) => [rank / model.ranks, (rank + 1) / model.ranks, rank]);
  const all = Math.max(ranks.length / model.ranks, Math.min(1, 3 / width));
  return ranks.map((rank, i) => [all * i / ranks.length, all * (i + 1) / ranks.length, rank]);
}

/// The same as a CSS background.
function background(model, value, width) {
  const percent = (part) => `${+(100 * part).toFixed(3)}%`;
  const stops = [];
  let last = 0;
  for (const [begin, end, rank] of stripes(model, value, width)) {
    if (begin > last)
      stops.push(`transparent ${percent(last)} ${percent(begin)}`);
    stops.push(`${rankColor(rank, model.ranks)} ${percent(begin)} ${percent(end)}`);
    last = end;
  }
  if (last < 1)
    stops.push(`transparent ${percent(last)} 100%`);
  return `linear-gradient(90deg, ${stops.join(', ')})`;
}
