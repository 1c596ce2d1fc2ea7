// Shows the chosen step in words, or the steps of the current tick if no step is chosen.

const MOST_LISTED = 40;

class Details {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.chosen = null;
  }

  button(step, label = this.model.stepName(step)) {
    const style = `--channel: ${channelColor(step.channel)}`;
    return element('button', {type: 'button', 'data-step': step.id, class: 'step', style}, label);
  }

  keys() {
    const keys = [['space', 'plays'], ['←', ''], ['→', 'go by a tick'], ['n', ''], ['p', 'choose a step']];
    return element('p', {class: 'keys'}, ...keys.flatMap(([key, what]) => [element('kbd', {}, key), ` ${what} `]));
  }

  show(tick) {
    if (this.chosen)
      return;
    const steps = (this.model.stepsAt[tick] ?? []).map((id) => this.model.steps[id]);
    const isOver = tick >= this.model.ticks;
    const title = isOver ? 'All steps have run' : `Tick ${tick} · ${plural(steps.length, 'step')} at once`;
    const list = element('ul', {class: 'running'}, ...steps.slice(0, MOST_LISTED).map((step) =>
      element('li', {}, this.button(step, `rank ${step.rank} · tb ${this.model.threadBlocks[step.block].index}`),
              element('code', {}, this.model.operationText(step)))));
    if (steps.length > MOST_LISTED)
      list.append(element('li', {}, `and ${steps.length - MOST_LISTED} more`));
    this.root.replaceChildren(element('h2', {}, title), list, this.keys());
  }

  choose(step, tick) {
    this.chosen = step;
    if (!step) {
      this.show(tick);
      return;
    }
    const block = this.model.threadBlocks[step.block];
    const title = 'Choose no step (Esc)';
    const close = element('button', {type: 'button', id: 'close', title, 'aria-label': title}, '×');
    const facts = element('dl');
    const fact = (name, ...nodes) => facts.append(element('dt', {}, name), element('dd', {}, ...nodes));
    fact('does', `${step.words}; channel ${step.channel}, tick ${step.tick}`);
    if (step.sender >= 0)
      fact('receives', this.button(this.model.steps[step.sender]));
    if (step.receiver >= 0)
      fact('sends to', this.button(this.model.steps[step.receiver]));
    if (step.waits.length !== 0)
      fact('waits for', ...step.waits.map((wait) => this.button(this.model.steps[wait])));
    const values = step.values.slice(0, 4).map((value) => this.model.valueText(value, 12));
    fact('moves', values.join(', ') + (step.count > 4 ? ', …' : ''));
    this.root.replaceChildren(
      element('h2', {}, `rank ${step.rank} · tb ${block.index} · step ${step.index}`, close),
      element('p', {class: 'operation'}, element('code', {}, this.model.operationText(step))), facts);
  }
}
