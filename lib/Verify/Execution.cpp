// SPDX-License-Identifier: Apache-2.0
// The execution, event-driven: a thread block that blocks is looked at again only when what it waits for may be there.
#include "Execution.h"
#include "Values.h"
#include <cassert>

using namespace gc3::ir;
using namespace gc3::verify;

template <typename Domain>
Execution<Domain>::Execution(const Program &program, const Connections &connections, uint32_t fifoSlots, Domain &domain)
    : program(program), connections(connections), fifoSlots(fifoSlots), domain(domain),
      map(program.bufferSizes, program.info->bufferCount()), lengths(program), states(program.threadBlocks.size()),
      fifos(connections.all.size()), waiters(program.threadBlocks.size()) {
  if (Domain::tracksValues) {
    memory.resize(map.total());
    start();
    layOutFifos();
  }
}

/// Every input slot holds itself.
template <typename Domain>
void Execution<Domain>::start() {
  const Collective &collective = program.info->collective;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, InputBuffer) * program.subdivision;
    if (size == 0)
      continue;
    Location first = canonical(collective, {rank, InputBuffer, 0}, program.subdivision);
    uint32_t slot = map.slot(rank, first.buffer, first.index);
    for (uint32_t index = 0; index != size; ++index)
      memory[slot + index] = {domain.input(rank, index), lengths.restingPlace(first.buffer, first.index + index)};
  }
}

/// How many places the messages of a thread block need: for the most values in as many of them as there are slots, and
/// for what stays unused at the end of the ring where the next one does not fit, which is nothing if all are alike.
template <typename Domain>
uint64_t Execution<Domain>::ringSize(const Program &program, const ThreadBlock &sender, uint32_t fifoSlots) {
  const Step *steps = program.steps.data() + sender.firstStep; // it may have none, and be the last
  uint64_t most = 0;
  uint64_t sum = 0;
  uint32_t messages = 0;
  uint32_t oldest = 0; // step that sent the oldest of them
  uint32_t longest = 0;
  bool alike = true;
  for (uint32_t i = 0; i != sender.stepCount; ++i) {
    if (!sends(steps[i].opcode))
      continue;
    alike &= longest == 0 || longest == steps[i].count;
    longest = std::max(longest, steps[i].count);
    sum += steps[i].count;
    if (messages++ == fifoSlots) {
      while (!sends(steps[oldest].opcode))
        ++oldest;
      sum -= steps[oldest++].count;
      --messages;
    }
    most = std::max(most, sum);
  }
  return most + (alike ? 0 : longest - 1);
}

template <typename Domain>
uint64_t Execution<Domain>::valuesInFlight(const Program &program, const Connections &connections, uint32_t fifoSlots) {
  uint64_t sum = 0;
  for (const Connection &connection : connections.all)
    sum += ringSize(program, program.threadBlocks[connection.sender], fifoSlots);
  return sum;
}

template <typename Domain>
void Execution<Domain>::layOutFifos() {
  uint64_t next = 0;
  for (uint32_t i = 0; i != fifos.size(); ++i) {
    fifos[i].first = next;
    fifos[i].capacity = ringSize(program, program.threadBlocks[connections.all[i].sender], fifoSlots);
    next += fifos[i].capacity;
  }
  inFlight.resize(next);
}

template <typename Domain>
Wait Execution<Domain>::pendingWait(uint32_t block) const {
  const Step &step = program.steps[program.threadBlocks[block].firstStep + states[block].step];
  return program.waits[step.waitBegin + states[block].nextWait];
}

template <typename Domain>
Blocked Execution<Domain>::obstacle(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  State &state = states[index];
  if (state.step == block.stepCount)
    return Blocked::Ended;
  const Step &step = program.steps[block.firstStep + state.step];
  for (; state.nextWait != step.waitCount; ++state.nextWait) {
    const Wait &wait = program.waits[step.waitBegin + state.nextWait];
    uint32_t other = program.rankBegin[block.rank] + wait.threadBlock;
    if (states[other].step <= wait.step) {
      waiters[other].push_back({wait.step, index});
      std::push_heap(waiters[other].begin(), waiters[other].end());
      return Blocked::OnWait;
    }
  }
  if (receives(step.opcode) && fifos[connections.recvOf[index]].messages == 0)
    return Blocked::OnMessage;
  if (sends(step.opcode) && fifos[connections.sendOf[index]].messages == fifoSlots)
    return Blocked::OnSlot;
  return Blocked::No;
}

template <typename Domain>
void Execution<Domain>::wake(uint32_t block, Blocked reason) {
  State &state = states[block];
  if (state.blocked != reason || state.queued)
    return;
  state.queued = true;
  ready.push_back(block);
}

/// Notes reads of unset slots.
template <typename Domain>
void Execution<Domain>::touch(uint32_t block, BufferId buffer, uint32_t index, uint32_t count) {
  uint32_t first = map.slot(program.threadBlocks[block].rank, buffer, index);
  for (uint32_t i = 0; i != count; ++i)
    if (memory[first + i].value == Domain::unset())
      unset.push_back({block, states[block].step, buffer, index + i});
}

/// What a step does to the values, slot by slot: what it writes it either reads in the same slot or not at all.
template <typename Domain>
void Execution<Domain>::moveValues(uint32_t index, const Step &step) {
  uint32_t rank = program.threadBlocks[index].rank;
  const Held *in = nullptr;
  const Held *src = nullptr;
  Held *dst = nullptr;
  Held *out = nullptr;
  if (readsSrc(step.opcode)) {
    touch(index, step.srcBuffer, step.srcIndex, step.count);
    src = &memory[map.slot(rank, step.srcBuffer, step.srcIndex)];
  }
  if (combinesIntoDst(step.opcode))
    touch(index, step.dstBuffer, step.dstIndex, step.count);
  if (writesDst(step.opcode))
    dst = &memory[map.slot(rank, step.dstBuffer, step.dstIndex)];
  if (receives(step.opcode)) {
    Fifo &fifo = fifos[connections.recvOf[index]];
    in = advance(fifo, fifo.receiveAt, step.count);
  } else if (combinesIntoDst(step.opcode)) {
    in = dst;
  }
  if (sends(step.opcode)) {
    Fifo &fifo = fifos[connections.sendOf[index]];
    out = advance(fifo, fifo.sendAt, step.count);
  }
  assert((in || src) && "every step takes its values from somewhere");
  for (uint32_t i = 0; i != step.count; ++i) {
    Held held = !in ? src[i] : src ? combine(in[i], src[i]) : in[i];
    if (dst) { // what is passed on is cut to the slot, too
      held.furthest = std::max(held.furthest, lengths.restingPlace(step.dstBuffer, step.dstIndex + i));
      dst[i] = held;
    }
    if (out)
      out[i] = held;
  }
}

template <typename Domain>
void Execution<Domain>::execute(uint32_t index) {
  const Step &step = program.steps[program.threadBlocks[index].firstStep + states[index].step];
  if constexpr (Domain::tracksValues)
    moveValues(index, step);
  if (receives(step.opcode)) {
    uint32_t connection = connections.recvOf[index];
    --fifos[connection].messages;
    wake(connections.all[connection].sender, Blocked::OnSlot);
  }
  if (sends(step.opcode)) {
    uint32_t connection = connections.sendOf[index];
    ++fifos[connection].messages;
    wake(connections.all[connection].receiver, Blocked::OnMessage);
  }
}

template <typename Domain>
void Execution<Domain>::finishStep(uint32_t index) {
  ++states[index].step;
  states[index].nextWait = 0;
  std::vector<Waiter> &waiting = waiters[index];
  while (!waiting.empty() && waiting.front().step < states[index].step) {
    std::pop_heap(waiting.begin(), waiting.end());
    wake(waiting.back().block, Blocked::OnWait);
    waiting.pop_back();
  }
}

template <typename Domain>
void Execution<Domain>::runBlock(uint32_t index) {
  states[index].queued = false;
  uint32_t first = states[index].step;
  while ((states[index].blocked = obstacle(index)) == Blocked::No) {
    execute(index);
    finishStep(index);
  }
  if (Domain::tracksValues && states[index].step != first)
    ranSteps.push_back({index, first, states[index].step});
}

template <typename Domain>
bool Execution<Domain>::run() {
  for (uint32_t block = 0; block != states.size(); ++block)
    runBlock(block);
  while (!ready.empty()) {
    uint32_t block = ready.back();
    ready.pop_back();
    runBlock(block);
  }
  return std::all_of(states.begin(), states.end(), [](const State &state) { return state.blocked == Blocked::Ended; });
}

template class gc3::verify::Execution<HashDomain>;
template class gc3::verify::Execution<ExactDomain>;
template class gc3::verify::Execution<NoDomain>;
