// Logarithmic axes.

class LogScale {
  /// Maps the values from `low` to `high` to the pixels from `begin` to `end`.
  constructor(low, high, begin, end) {
    Object.assign(this, {low: Math.log(low), span: Math.log(high) - Math.log(low), begin, end});
  }
  at(value) {
    return this.begin + (Math.log(value) - this.low) / this.span * (this.end - this.begin);
  }
}

/// Returns the range of the sizes. A single size stands in the middle of a range.
function sizeScale(sizes, begin, end) {
  const [low, high] = [sizes[0], sizes.at(-1)];
  return low < high ? new LogScale(low, high, begin, end) : new LogScale(low / 2, high * 2, begin, end);
}

/// Returns the sizes that have labels: powers of two, as many as fit with `room` pixels for each; else the first and
/// the last size.
function sizeTicks(sizes, scale, room) {
  const low = Math.ceil(Math.log2(sizes[0])), high = Math.floor(Math.log2(sizes.at(-1)));
  if (high <= low)
    return [...new Set([sizes[0], sizes.at(-1)])];
  const most = Math.max(1, Math.floor(Math.abs(scale.end - scale.begin) / room));
  const step = [1, 2, 5, 10, 20].find((each) => (high - low) / each <= most) ?? 60;
  const ticks = [];
  for (let power = Math.ceil(low / step) * step; power <= high; power += step)
    ticks.push(2 ** power);
  return ticks;
}

/// Returns multiples of 1, 2 or 5 times a power of ten.
function evenTicks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  return Array.from({length: Math.floor(high / step) - Math.ceil(low / step) + 1}, (_, i) => (Math.ceil(low / step) + i) * step);
}

/// Returns the values that have labels: 1, 2, 5 times a power of ten; only powers of ten in a large range; even steps in
/// a small one.
function valueTicks(low, high) {
  const decades = Math.log10(high / low);
  if (decades < 0.6)
    return evenTicks(low, high);
  const factors = decades <= 3.2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const factor of factors)
      ticks.push(factor * 10 ** power);
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

/// Returns [low, high] of the values with some space around them.
function paddedRange(values) {
  const low = Math.min(...values), high = Math.max(...values);
  const space = Math.max(1.08, (high / low) ** 0.04);
  return [low / space, high * space];
}
