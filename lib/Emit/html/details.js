// The chosen step in words; or, if none is chosen, the steps that run now.

class Details {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.chosen = null;
  }

  button(step, label = this.model.stepName(step)) {
    return element('button', {type: 'button', 'data-step': step.id, class: 'step', style: `--channel: ${channelColor(step.channel)}`}, label);
  }

  show(tick) {
    if (this.chosen)
      return;
    const steps = (this.model.stepsAt[tick] ?? []).map((id) => this.model.steps[id]);
    const title = tick >= this.model.ticks ? 'All steps have run' : `Tick ${tick} · ${steps.length} ${steps.length === 1 ? 'step runs' : 'steps run'}`;
    const list = element('ul', {class: 'running'}, ...steps.slice(0, 200).map((step) =>
      element('li', {}, this.button(step, `rank ${step.rank} · tb ${this.model.threadBlocks[step.block].index}`),
              element('code', {}, this.model.operationText(step)))));
    this.root.replaceChildren(element('h2', {}, title), list);
  }

  choose(step, tick) {
    this.chosen = step;
    if (!step) {
      this.show(tick);
      return;
    }
    const block = this.model.threadBlocks[step.block];
    const close = element('button', {type: 'button', id: 'close', title: 'Choose no step (Esc)', 'aria-label': 'Choose no step'}, '×');
    const facts = element('dl');
    const fact = (name, ...nodes) => facts.append(element('dt', {}, name), element('dd', {}, ...nodes));
    fact('does', `${step.words}; channel ${step.channel}, tick ${step.tick}`);
    if (step.sender >= 0)
      fact('receives', this.button(this.model.steps[step.sender]));
    if (step.receiver >= 0)
      fact('sends to', this.button(this.model.steps[step.receiver]));
    if (step.waits.length !== 0)
      fact('waits for', ...step.waits.map((wait) => this.button(this.model.steps[wait])));
    fact('moves', step.values.slice(0, 4).map((value) => this.model.valueText(value, 12)).join(', ') + (step.count > 4 ? ', …' : ''));
    this.root.replaceChildren(element('h2', {}, `rank ${step.rank} · tb ${block.index} · step ${step.index}`, close),
                              element('p', {class: 'operation'}, element('code', {}, this.model.operationText(step))), facts);
  }
}
