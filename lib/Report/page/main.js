// Creates the sections of the page. Each section has a legend, which hides and shows curves in all of its plots.

/// Removes sizes that a logarithmic axis cannot show, from a section and all its values.
function withoutZero(section) {
  const kept = section.sizes.flatMap((size, i) => size > 0 ? [i] : []);
  const pick = (values) => kept.map((i) => values[i]);
  const count = section.sizes.length;
  const curve = (each) => ({...each, times: pick(each.times), labels: each.labels.length ? pick(each.labels) : []});
  const grid = ({rows, values, note}) => ({rows, note, values: rows.flatMap((_, r) => pick(values.slice(r * count, (r + 1) * count)))});
  return {...section, sizes: pick(section.sizes), curves: section.curves.map(curve), baseline: section.baseline.map(curve)[0],
    details: section.details.map((each) => ({...each, resources: grid(each.resources), path: grid(each.path)}))};
}

/// Returns the plots of a section: time, bandwidth, and the speed-up if there is a baseline.
function makePlots(section) {
  const {sizes, baseline} = section;
  let front = 0;
  const curves = section.curves.map((curve) => ({...curve, style: styleOf(curve.isBackground ? 0 : front++)}));
  const own = {color: 'var(--soft)', dashes: '5 4'};
  const all = baseline ? [...curves, {...baseline, style: own}] : curves;
  const plot = (kind, title, hint, unit, format, shown, value, hasOne = false) => new Plot({kind, title, hint, unit, format,
    sizes, hasOne, curves: shown.map((curve) => ({...curve, values: curve.times.map((time, i) => time ? value(time, i) : null)}))});
  const plots = [
    plot('time', 'Time', 'lower is better', 'Time (µs)', formatTime, all, (time) => time),
    plot('bandwidth', 'Bandwidth', 'size divided by time', 'Bandwidth (GB/s)', (value) => `${formatNumber(value)} GB/s`, all,
      (time, i) => sizes[i] / time / 1000)];
  if (baseline)
    plots.unshift(plot('speedup', `Speed-up over ${baseline.name}`, 'higher is better', 'Speed-up', (value) => `${value.toFixed(2)}×`,
      curves, (time, i) => baseline.times[i] === null ? null : baseline.times[i] / time, true));
  return {plots, all};
}

function makeLegend(all, plots) {
  const items = all.flatMap((curve, i) => curve.isBackground ? [] : [element('li', {}, makeToggle(curve, i, plots))]);
  const background = all.filter((curve) => curve.isBackground).length;
  if (background)
    items.push(element('li', {}, element('span', {}, sampleLine({color: 'var(--faint)', dashes: ''}), `${background} more`)));
  return element('ul', {class: 'legend', 'aria-label': 'Curves'}, ...items);
}

function makeToggle(curve, number, plots) {
  const toggle = element('button', {type: 'button', 'aria-pressed': 'true', title: 'Hide or show this curve'},
    sampleLine(curve.style), curve.name);
  toggle.onclick = () => {
    const isShown = toggle.getAttribute('aria-pressed') !== 'true';
    toggle.setAttribute('aria-pressed', isShown);
    for (const plot of plots) {
      plot.hidden[isShown ? 'delete' : 'add'](number);
      plot.draw();
    }
  };
  return toggle;
}

/// Returns the pictures of one program at a time, and the element that chooses it.
function makeDetails(details, sizes) {
  const labels = sizes.map(formatSize);
  const pictures = details.map(({name, resources, path}) => ({name, parts: [
    ...(path.rows.length ? [new PathParts(path, labels)] : []),
    ...(resources.rows.length ? [new HeatMap('heat', 'Use of resources', 'of its capacity', resources, labels)] : [])]}));
  const choose = element('select', {class: 'choose', 'aria-label': 'Program'},
    ...pictures.map(({name}, i) => element('option', {value: i}, name)));
  const show = () => pictures.forEach(({parts}, i) => parts.forEach((part) => { part.card.hidden = i !== Number(choose.value); }));
  choose.onchange = () => { show(); layout(); };
  show();
  return {parts: pictures.flatMap((each) => each.parts), choose};
}

/// Returns a picture for each size of what ran its calls.
function makeHistories(histories) {
  return histories.map(({bytes, calls, shares}) =>
    new HeatMap('history', `Calls from ${formatSize(bytes)}`, 'of the calls', shares, calls.map((call) => `call ${call}`), 'call'));
}

const drawn = []; // all pictures of the page

function layout() {
  for (const picture of drawn) {
    const width = Math.floor(picture.picture.clientWidth);
    if (width > 0)
      picture.draw(width);
  }
}

function makeSection(data) {
  const section = withoutZero(data);
  const title = element('h2', {}, section.title);
  if (section.sizes.length === 0)
    return [title, element('p', {class: 'hint'}, 'There are no sizes above 0.')];
  const {plots, all} = makePlots(section);
  const {parts, choose} = makeDetails(section.details, section.sizes);
  const histories = makeHistories(section.histories);
  drawn.push(...plots, ...parts, ...histories);
  const cards = [...plots.map((plot) => plot.card), ...(section.ranges.length ? [makeRanges(section)] : [])];
  const nodes = [title, makeLegend(all, plots), element('div', {class: 'cards'}, ...cards)];
  if (parts.length)
    nodes.push(element('h2', {}, 'Where the time goes: ', choose), element('div', {class: 'cards pictures'}, ...parts.map((part) => part.card)));
  if (histories.length)
    nodes.push(element('h2', {}, 'Choices over time'), element('div', {class: 'cards pictures'}, ...histories.map((each) => each.card)));
  return [...nodes, element('h2', {}, 'Table'), element('div', {class: 'cards'}, makeTable(section))];
}

const page = JSON.parse(byId('data').textContent);
byId('subtitle').textContent = page.subtitle;
byId('notes').append(...page.notes.map((note) => element('p', {}, note)));
byId('sections').append(...page.sections.flatMap(makeSection));
layout();
new ResizeObserver(layout).observe(document.body);
