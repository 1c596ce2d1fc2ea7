// The program: the page's JSON with names for its parts, and the contents of each slot at each time.

/// Returns a function that calls `compute` once per key and remembers the result.
function remember(compute) {
  const known = new Map();
  return (key) => {
    if (!known.has(key))
      known.set(key, compute(key));
    return known.get(key);
  };
}

/// Returns the rows of a table as objects. The table is stored as one array per column.
function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]])));
}

/// Makes one cell for each slot of each buffer of each rank, in the order in which the compiler numbers the slots.
function makeCells(data) {
  const cells = [];
  const bufferStart = [];
  data.sizes.forEach((size, i) => {
    const rank = Math.floor(i / data.buffers.length);
    const buffer = i % data.buffers.length;
    bufferStart.push(cells.length);
    for (let index = 0; index !== size; ++index)
      cells.push({id: cells.length, rank, buffer, index, inputSlot: -1, outputSlot: -1, history: []});
  });
  return {cells, bufferStart};
}

/// Returns the steps as objects with all their data.
function makeSteps(data, cellAt) {
  const steps = rowsOf(data.steps);
  let moved = 0;
  const firstOfRank = [];
  data.threadBlocks.forEach((block, b) => {
    const sameRank = (firstOfRank[block.rank] ??= b);
    block.index = b - sameRank;
    for (let i = 0; i !== block.stepCount; ++i) {
      const step = steps[block.firstStep + i];
      const cellsOf = (buffer, index) =>
        Array.from({length: step.count}, (_, k) => cellAt(block.rank, buffer, index + k));
      Object.assign(step, OPCODES[step.opcode]);
      step.id = block.firstStep + i;
      step.index = i;
      step.block = b;
      step.rank = block.rank;
      step.channel = block.channel;
      step.src = step.reads ? cellsOf(step.srcBuffer, step.srcIndex) : [];
      step.dst = step.writes ? cellsOf(step.dstBuffer, step.dstIndex) : [];
      step.waits = step.waits.map(([tb, index]) => data.threadBlocks[sameRank + tb].firstStep + index);
      step.values = data.values.slice(moved, moved += step.count);
    }
  });
  return steps;
}

const OPCODES = {
  send: {reads: true, writes: false, words: 'send'},
  recv: {reads: false, writes: true, words: 'receive'},
  copy: {reads: true, writes: true, words: 'copy on this rank'},
  reduce: {reads: true, writes: true, words: 'reduce on this rank'},
  rrc: {reads: true, writes: true, words: 'receive, reduce, copy'},
  rcs: {reads: false, writes: true, words: 'receive, copy, send on'},
  rrs: {reads: true, writes: false, words: 'receive, reduce, send on'},
  rrcs: {reads: true, writes: true, words: 'receive, reduce, copy, send on'},
};

/// Fraction of a tick after which the message that a step receives has landed and the output of the step is written.
const LANDING = 0.4;

/// Returns text such as `[3]` or `[3..5]`.
function sliceText(first, count) {
  return `[${first}${count === 1 ? '' : `..${first + count}`}]`;
}

class Model {
  constructor(data) {
    Object.assign(this, data);
    const {cells, bufferStart} = makeCells(data);
    this.cells = cells;
    this.cellAt = (rank, buffer, index) => bufferStart[rank * data.buffers.length + buffer] + index;
    this.steps = makeSteps(data, this.cellAt);
    this.known = new Map(); // contributions by value
    this.origins = remember((value) => this.findOrigins(value));
    this.fullText = remember((value) => this.termsOf(value).join(' + '));
    this.fillInputs();
    this.markOutputs();
    this.fillHistories();
    this.stepsAt = Array.from({length: this.ticks}, () => []);
    for (const step of this.steps)
      this.stepsAt[step.tick].push(step.id);
    this.messages = this.steps.filter((step) => step.receiver >= 0).sort((a, b) => a.tick - b.tick);
    this.reduces = data.sums.length !== 0;
    this.rankColors = Array.from({length: this.ranks}, (_, rank) => rankColor(rank, this.ranks));
    this.promised = this.cells.filter((cell) => cell.wanted).length;
  }

  fillInputs() {
    this.inputOf = []; // by value: [rank, slot of the rank's input]
    this.inputs.forEach(([buffer, first, size], rank) => {
      for (let slot = 0; slot !== size; ++slot) {
        const cell = this.cells[this.cellAt(rank, buffer, first + slot)];
        cell.inputSlot = slot;
        cell.history.push({tick: -1, value: this.inputOf.length, step: -1});
        this.known.set(this.inputOf.length, new Map([[this.inputOf.length, 1]]));
        this.inputOf.push([rank, slot]);
      }
    });
    this.firstInput = [];
    this.inputs.reduce((sum, place, rank) => ((this.firstInput[rank] = sum), sum + place[2]), 0);
  }

  markOutputs() {
    const parts = this.subdivision;
    const memo = new Map();
    this.outputs.forEach(([buffer, first, size], rank) => {
      for (let slot = 0; slot !== size; ++slot) {
        const cell = this.cells[this.cellAt(rank, buffer, first + slot)];
        cell.outputSlot = slot;
        const wanted = this.post.rows[this.post.rowBegin[this.post.rowOfRank[rank]] + Math.floor(slot / parts)];
        if (wanted === 0)
          continue; // the postcondition allows any value
        const key = (wanted - 1) * parts + slot % parts;
        if (!memo.has(key))
          memo.set(key, this.promise(wanted - 1, slot % parts));
        cell.wanted = memo.get(key);
      }
    });
  }

  /// Returns the value that the postcondition requires in one slot of a chunk: its multiset of input values, and a
  /// function that compares another value with it.
  promise(value, part) {
    const set = new Map();
    for (const [rank, index, rankStride, indexStride, length] of this.post.values[value])
      for (let i = 0; i !== length; ++i) {
        const input = this.firstInput[rank + i * rankStride] + (index + i * indexStride) * this.subdivision + part;
        set.set(input, (set.get(input) ?? 0) + 1);
      }
    const isKept = remember((held) => {
      const found = this.contributions(held);
      return found.size === set.size && [...found].every(([input, times]) => set.get(input) === times);
    });
    return {set, isKept};
  }

  fillHistories() {
    for (const step of [...this.steps].sort((a, b) => a.tick - b.tick))
      step.dst.forEach((cell, i) =>
        this.cells[cell].history.push({tick: step.tick, value: step.values[i], step: step.id}));
  }

  /// Returns the contributions to a value: a Map from input values to their multiplicities.
  contributions(value) {
    const pending = [value];
    while (pending.length !== 0) {
      const top = pending[pending.length - 1];
      const parts = this.known.has(top) ? [] : this.sums[top - this.inputOf.length];
      const open = parts.find((part) => !this.known.has(part));
      if (open !== undefined) {
        pending.push(open);
        continue;
      }
      if (parts.length !== 0)
        this.known.set(top, this.combine(...parts));
      pending.pop();
    }
    return this.known.get(value);
  }

  findOrigins(value) {
    const ranks = new Set([...this.contributions(value).keys()].map((input) => this.inputOf[input][0]));
    return [...ranks].sort((a, b) => a - b);
  }

  combine(a, b) {
    const sum = new Map(this.known.get(a));
    for (const [input, times] of this.known.get(b))
      sum.set(input, (sum.get(input) ?? 0) + times);
    return sum;
  }

  /// Returns the entry of a cell's history for a time: the value, and the tick in which the cell got it. Returns
  /// undefined if the cell is empty at this time.
  heldAt(cell, time) {
    const history = cell.history;
    let low = 0;
    let high = history.length;
    while (low !== high) {
      const middle = (low + high) >> 1;
      if (history[middle].tick + LANDING < time)
        low = middle + 1;
      else
        high = middle;
    }
    return history[low - 1];
  }

  /// Returns true if a cell of the output holds what the collective promises.
  keeps(cell, held) {
    return cell.wanted !== undefined && held !== undefined && cell.wanted.isKept(held.value);
  }

  sliceText(buffer, index, count) {
    return this.buffers[buffer] + sliceText(index, count);
  }

  operationText(step) {
    const src = step.reads ? ` ${this.sliceText(step.srcBuffer, step.srcIndex, step.count)}` : '';
    const dst = step.writes ? ` → ${this.sliceText(step.dstBuffer, step.dstIndex, step.count)}` : '';
    return step.opcode + src + dst;
  }

  stepName(step) {
    return `rank ${step.rank} tb ${this.threadBlocks[step.block].index} step ${step.index}`;
  }

  termsOf(value) {
    return [...this.contributions(value)].sort((a, b) => a[0] - b[0]).map(([input, times]) =>
      `${times === 1 ? '' : `${times}×`}${this.inputOf[input].join(':')}`);
  }

  /// Returns text such as `0:1 + 2:1`: at most `most` input slots as rank:slot, with their factors.
  valueText(value, most) {
    const terms = this.termsOf(value);
    const rest = terms.length - most;
    return rest > 0 ? `${terms.slice(0, most).join(' + ')} + ${rest} more` : terms.join(' + ');
  }
}
