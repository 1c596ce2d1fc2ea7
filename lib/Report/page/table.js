// The table of all times, and the list of ranges.

function cell(tag, text, isBest = false) {
  return element(tag, isBest ? {class: 'best'} : {}, text);
}

/// Returns a title that can break after each '_'.
function headOf(text) {
  return element('th', {}, ...text.split(/(?<=_)/).flatMap((part) => [part, element('wbr')]));
}

/// Returns a table with a row for each size and the curves of the legend. The best time of a row is marked.
function makeTable({sizes, curves: all, baseline}) {
  const curves = all.filter((curve) => !curve.isBackground);
  const head = ['Size', ...curves.map((curve) => curve.name)];
  if (baseline)
    head.push(baseline.name, 'best speed-up');
  const rows = sizes.map((size, i) => {
    const times = curves.map((curve) => curve.times[i]);
    const best = Math.min(...times.filter((time) => time !== null));
    const cells = times.map((time) => cell('td', time === null ? '–' : time.toFixed(2), time === best));
    if (baseline) {
      const time = baseline.times[i], label = baseline.labels[i];
      cells.push(cell('td', time === null ? '–' : time.toFixed(2) + (label ? ` (${label})` : '')));
      cells.push(cell('td', time === null || !Number.isFinite(best) ? '–' : `${(time / best).toFixed(2)}×`));
    }
    return element('tr', {}, cell('th', formatSize(size)), ...cells);
  });
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...head.map(headOf))),
    element('tbody', {}, ...rows));
  return element('details', {class: 'card wide', open: ''}, element('summary', {}, 'Times in µs'),
    element('div', {class: 'scroll'}, table));
}

/// Returns a table of the sizes that each program serves.
function makeRanges({ranges, curves, baseline}) {
  const rows = ranges.map(({curve, begin, end}) => {
    const chosen = curve < 0 ? baseline : curves[curve];
    const name = element('td', {style: 'text-align: left'}, chosen.name);
    return element('tr', {}, cell('th', formatSize(begin)), cell('td', end >= 2 ** 63 ? 'any size' : formatSize(end)), name);
  });
  const head = element('tr', {}, cell('th', 'From'), cell('th', 'to'), element('th', {style: 'text-align: left'}, 'served by'));
  return element('section', {class: 'card wide', 'data-kind': 'ranges', 'aria-label': 'Ranges'}, element('h3', {}, 'Ranges'),
    element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows))));
}
