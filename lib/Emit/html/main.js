// Creates the parts of the page and connects them. All parts show the same chosen step and the same time.

const byId = (id) => document.getElementById(id);
const model = new Model(JSON.parse(byId('data').textContent));
const board = new Board(model, byId('board'));
const flights = new Flights(model, board);
const timeline = new Timeline(model, byId('timeline'));
const source = new Source(model, byId('source'));
const details = new Details(model, byId('details'));
const player = new Player(model.ticks, showTime);
let chosen = null;
let shownTick = -1;

function showFacts() {
  byId('facts').textContent = [
    `implements ${model.collective}`, plural(model.ranks, 'rank'), plural(model.threadBlocks.length, 'thread block'),
    plural(model.steps.length, 'step'), plural(model.ticks, 'tick'), `protocol ${model.protocol}`,
    plural(model.slots, 'FIFO slot'),
  ].join(' · ');
  const channels = [...new Set(model.threadBlocks.map((block) => block.channel))].sort((a, b) => a - b);
  byId('channels').append(...channels.slice(0, 12).map((channel) =>
    element('span', {style: `--channel: ${channelColor(channel)}`}, `channel ${channel}`)));
  if (channels.length > 12)
    byId('channels').append(element('em', {}, `and ${channels.length - 12} more`));
  byId('slider').max = model.ticks;
  byId('speed').append(...SPEEDS.map((speed) => element('option', {value: speed}, `${speed} ${speed === 1 ? 'tick' : 'ticks'}/s`)));
}

function showTime() {
  const time = player.shown;
  const tick = Math.floor(time);
  board.show(time);
  flights.show(time);
  timeline.show(time, player.goal !== null);
  if (tick !== shownTick) {
    shownTick = tick;
    details.show(tick);
    source.show(model.stepsAt[tick] ?? []);
    byId('slider').value = tick;
    byId('slider').setAttribute('aria-valuetext', `tick ${tick} of ${model.ticks}`);
    byId('clock').textContent = `${tick} / ${model.ticks}`;
  }
  showProgress();
  showControls();
}

function showProgress() {
  byId('progress').hidden = model.promised === 0;
  byId('progress-text').textContent = `${board.keptCount} of ${plural(model.promised, 'output slot')} as promised`;
  byId('progress-bar').style.setProperty('--part', board.keptCount / model.promised);
}

function showControls() {
  const play = byId('play');
  play.classList.toggle('on', player.playing);
  play.setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
  byId('speed').value = player.speed;
}

function choose(id) {
  chosen = id === null ? null : model.steps[id];
  flights.chosen = chosen;
  board.choose(chosen);
  timeline.choose(chosen);
  source.choose(chosen);
  details.choose(chosen, shownTick);
  if (chosen)
    timeline.reveal(chosen);
  flights.show(player.shown);
}

/// Chooses the next (`by` = 1) or previous (`by` = -1) step in the order of time. Starts from the chosen step or, if no
/// step is chosen, from the shown tick.
function chooseNext(by) {
  const order = model.stepsAt.flat();
  const later = order.findIndex((id) => model.steps[id].tick >= shownTick);
  const soon = later < 0 ? order.length : later;
  const from = chosen ? order.indexOf(chosen.id) : soon - (by > 0 ? 1 : 0);
  const id = order[Math.max(0, Math.min(order.length - 1, from + by))];
  if (id === undefined)
    return;
  choose(id);
  player.seek(model.steps[id].tick);
}

const KEYS = {
  ' ': () => player.toggle(),
  ArrowRight: () => player.step(1),
  ArrowLeft: () => player.step(-1),
  Home: () => player.seek(0),
  End: () => player.seek(model.ticks),
  '+': () => player.faster(1),
  '-': () => player.faster(-1),
  n: () => chooseNext(1),
  p: () => chooseNext(-1),
  Escape: () => choose(null),
};

function onKey(event) {
  const own = event.target.closest('button, select') && (event.key === ' ' || event.target.tagName === 'SELECT');
  if (own || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS))
    return;
  event.preventDefault();
  KEYS[event.key]();
}

function onClick(event) {
  const step = event.target.closest('[data-step]');
  if (step) {
    choose(Number(step.dataset.step));
    if (chosen.tick !== shownTick && !event.target.closest('#timeline'))
      player.seek(chosen.tick);
  } else if (event.target.closest('#close')) {
    choose(null);
  } else if (event.target.closest('.cell')) {
    const held = board.shown[Number(event.target.closest('.cell').dataset.cell)];
    choose(held && held.step >= 0 ? held.step : null);
  }
}

function tipLines(target) {
  const cell = target.closest('.cell');
  if (cell)
    return board.explain(Number(cell.dataset.cell));
  const bar = target.closest('.bar');
  if (!bar)
    return null;
  const step = model.steps[Number(bar.dataset.step)];
  const what = `${step.words}; channel ${step.channel}, tick ${step.tick}`;
  return [model.stepName(step), model.operationText(step), what, source.placeText(step)].filter((line) => line !== '');
}

function onHover(event) {
  const lines = event.target instanceof Element ? tipLines(event.target) : null;
  const tip = byId('tip');
  tip.hidden = !lines;
  if (!lines)
    return;
  tip.replaceChildren(...lines.map((line) => element('p', {}, line)));
  const right = event.clientX + 14 + tip.offsetWidth > window.innerWidth;
  const below = event.clientY + 18 + tip.offsetHeight > window.innerHeight;
  tip.style.left = `${Math.max(4, right ? event.clientX - tip.offsetWidth - 10 : event.clientX + 14)}px`;
  tip.style.top = `${Math.max(4, below ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18)}px`;
}

/// Sets the time to the position of the pointer while the user drags over a free area of the timeline.
function onDrag(event) {
  if (event.buttons !== 1 || event.target.closest('.bar, .gutter'))
    return;
  player.seek(timeline.timeAt(event.clientX));
}

function layout() {
  board.layout();
  flights.resize();
  timeline.layout();
  showTime();
}

/// Reads the fragment of the page's address. `#tick=7` shows tick 7; `&step=12` chooses step 12 of the program.
function openFragment() {
  const wishes = new URLSearchParams(location.hash.slice(1));
  const step = Number(wishes.get('step') ?? NaN);
  if (Number.isInteger(step) && step >= 0 && step < model.steps.length)
    choose(step);
  const tick = Number(wishes.get('tick') ?? NaN);
  player.seek(Number.isFinite(tick) ? tick : chosen ? chosen.tick : 0);
}

function connect() {
  byId('play').onclick = () => player.toggle();
  byId('first').onclick = () => player.seek(0);
  byId('last').onclick = () => player.seek(model.ticks);
  byId('back').onclick = () => player.step(-1);
  byId('forward').onclick = () => player.step(1);
  byId('slider').oninput = (event) => player.seek(Number(event.target.value));
  byId('speed').onchange = (event) => { player.speed = Number(event.target.value); };
  document.addEventListener('keydown', onKey);
  document.addEventListener('click', onClick);
  document.addEventListener('pointermove', onHover);
  document.addEventListener('pointerleave', () => { byId('tip').hidden = true; });
  for (const part of [timeline.picture, timeline.axis])
    for (const kind of ['pointerdown', 'pointermove'])
      part.addEventListener(kind, onDrag);
  new ResizeObserver(layout).observe(document.body);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', layout);
  window.addEventListener('hashchange', openFragment);
}

showFacts();
layout();
connect();
openFragment();
