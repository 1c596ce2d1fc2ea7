// SPDX-License-Identifier: Apache-2.0
// Event-driven execution: a blocked thread block is examined again only when its event may have happened.
#include "Execution.h"
#include <algorithm>

using namespace gc3::ir;
using namespace gc3::verify;

Execution::Execution(const Program &program, const Connections &connections, uint32_t fifoSlots)
    : program(program), fifoSlots(fifoSlots) {
  states.reserve(program.threadBlocks.size());
  for (const ThreadBlock &block : program.threadBlocks) {
    State &state = states.emplace_back();
    state.stepCount = block.stepCount;
    state.firstStep = block.firstStep;
  }
  for (const Connection &connection : connections.all) {
    states[connection.sender].receiver = connection.receiver;
    states[connection.receiver].sender = connection.sender;
  }
}

Wait Execution::pendingWait(uint32_t block) const {
  const State &state = states[block];
  return program.waits[currentStep(state).waitBegin + state.nextWait];
}

/// Skips the waits that are met. If another wait is not met, returns false; the step that meets it will wake the thread
/// block.
bool Execution::meetWaits(uint32_t index, const Step &step) {
  State &state = states[index];
  for (; state.nextWait != step.waitCount; ++state.nextWait) {
    const Wait &wait = program.waits[step.waitBegin + state.nextWait];
    uint32_t other = program.rankBegin[program.threadBlocks[index].rank] + wait.threadBlock;
    if (states[other].step > wait.step)
      continue;
    std::vector<Waiter> &heap = waiters[other];
    heap.push_back({wait.step, index});
    std::push_heap(heap.begin(), heap.end());
    states[other].awaited = true;
    return false;
  }
  return true;
}

Blocked Execution::obstacle(uint32_t index) {
  State &state = states[index];
  if (state.step == state.stepCount)
    return Blocked::Ended;
  const Step &step = currentStep(state);
  if (!meetWaits(index, step))
    return Blocked::OnWait;
  if (receives(step.opcode) && states[state.sender].inFlight == 0)
    return Blocked::OnMessage;
  if (sends(step.opcode) && state.inFlight == fifoSlots)
    return Blocked::OnSlot;
  return Blocked::No;
}

void Execution::wake(uint32_t block, Blocked reason) {
  State &state = states[block];
  if (state.blocked != reason || state.queued)
    return;
  state.queued = true;
  ready.push_back(block);
}

void Execution::passMessages(State &state) {
  const Step &step = currentStep(state);
  if (receives(step.opcode)) {
    --states[state.sender].inFlight;
    wake(state.sender, Blocked::OnSlot);
  }
  if (sends(step.opcode)) {
    ++state.inFlight;
    wake(state.receiver, Blocked::OnMessage);
  }
}

void Execution::wakeWaiters(uint32_t index) {
  std::vector<Waiter> &heap = waiters[index];
  while (!heap.empty() && heap.front().step < states[index].step) {
    std::pop_heap(heap.begin(), heap.end());
    wake(heap.back().block, Blocked::OnWait);
    heap.pop_back();
  }
  states[index].awaited = !heap.empty();
}

void Execution::runBlock(uint32_t index) {
  State &state = states[index];
  state.queued = false;
  uint32_t first = state.step;
  while ((state.blocked = obstacle(index)) == Blocked::No) {
    passMessages(state);
    ++state.step;
    state.nextWait = 0;
    if (state.awaited)
      wakeWaiters(index);
  }
  if (state.step != first)
    order.push_back({index, first, state.step});
}

bool Execution::run() {
  for (uint32_t block = 0; block != states.size(); ++block)
    runBlock(block);
  while (!ready.empty()) {
    uint32_t block = ready.back();
    ready.pop_back();
    runBlock(block);
  }
  return std::all_of(states.begin(), states.end(), [](const State &state) { return state.blocked == Blocked::Ended; });
}
