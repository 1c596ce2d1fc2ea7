// SPDX-License-Identifier: Apache-2.0
#include "Engine.h"
#include <cmath>
#include <utility>

namespace gc3::simulate {

using Step = Workload::Step;

Engine::Engine(const Workload &workload, Events *recorded, bool exactly)
    : work(workload), events(recorded), isExact(exactly),
      queue(static_cast<uint32_t>(workload.blocks.size() + workload.connections.size())),
      sharing(workload.capacities, static_cast<uint32_t>(workload.blocks.size() + workload.connections.size()),
              workload.mostUses()),
      states(workload.blocks.size()), connections(workload.connections.size()),
      slotTimes(workload.connections.size() * workload.slots), completed(workload.blocks.size()),
      stepEnds(workload.steps.size(), workload.waitTime),
      hasTransfer(workload.blocks.size() + workload.connections.size()) {}

/// Events at the same time are handled together, before rates are computed: many transfers of a symmetric program begin
/// and end at once. Times that differ by rounding errors count as the same. If many transfers share capacities, events
/// within a short time are also handled together.
bool Engine::run() {
  constexpr double sameTime = 1 + 1e-12;
  running = states.size();
  endTime = work.launch;
  for (uint32_t block = 0; block < states.size(); ++block) {
    states[block].ready = work.launch;
    if (work.blocks[block].stepCount == 0 || work.tiles() == 0)
      finish(block, work.launch);
    else
      advance(block);
  }
  while (!queue.empty()) {
    const double last = queue.time() * sameTime + (isExact ? 0 : sharing.patience());
    double now = 0;
    while (!queue.empty() && queue.time() <= last) {
      const uint32_t actor = queue.actor();
      now = queue.time();
      queue.pop();
      handle(actor, now);
    }
    ends.clear();
    sharing.settle(now, ends);
    for (const auto &[actor, time] : ends)
      queue.schedule(actor, time);
  }
  return running == 0;
}

void Engine::handle(uint32_t actor, double now) {
  if (actor >= states.size())
    return endPut(actor - static_cast<uint32_t>(states.size()), now);
  switch (states[actor].phase) {
  case Phase::Starting: return startStep(actor, now);
  case Phase::Stepping: return begin(actor, now);
  case Phase::Moving: return endTransfer(actor, now);
  case Phase::Draining: return complete(actor, now);
  case Phase::Blocked:
  case Phase::Done: return;
  }
}

/// Notes that a condition of the block's step holds from `time` on.
void Engine::atLeast(uint32_t block, double time, Cause cause, uint64_t causedBy) {
  if (time <= states[block].ready)
    return;
  states[block].ready = time;
  if (Event *event = record(eventOf(block)))
    event->cause = cause, event->causedBy = causedBy;
}

bool Engine::awaitSteps(uint32_t block, const Step &step) {
  BlockState &state = states[block];
  for (; state.condition < step.waitCount; ++state.condition) {
    const Workload::Wait &wait = work.waits[step.firstWait + state.condition];
    const Workload::Block &other = work.blocks[wait.block];
    if (completed[wait.block] < state.tile * other.stepCount + wait.step + 1) {
      if (!state.isListed)
        state.nextWaiter = std::exchange(states[wait.block].firstWaiter, block);
      state.isListed = true;
      return false;
    }
    const uint32_t awaited = other.firstStep + wait.step;
    atLeast(block, stepEnds.endOf(awaited, state.tile) + work.waitTime, Cause::Wait,
            state.tile * work.steps.size() + awaited);
  }
  return true;
}

bool Engine::awaitMessage(uint32_t block, const Step &step) {
  const uint32_t in = work.blocks[block].in;
  if (!step.flags.receives())
    return true;
  if (connections[in].begun <= states[block].received)
    return false;
  const SlotTimes &slot = slotOf(in, states[block].received);
  atLeast(block, slot.begin, Cause::Message, slot.sentBy);
  if (Event *event = record(eventOf(block)))
    event->sentBy = slot.sentBy;
  return true;
}

bool Engine::awaitSlot(uint32_t block, const Step &step) {
  const uint32_t out = work.blocks[block].out;
  if (!step.flags.sends() || states[block].sent < work.slots)
    return true;
  if (connections[out].freed + work.slots <= states[block].sent)
    return false;
  const SlotTimes &slot = slotOf(out, states[block].sent);
  atLeast(block, slot.freed, Cause::Slot, slot.freedBy);
  return true;
}

/// Schedules the block's step if the times of all its conditions are known. Otherwise another actor wakes the block.
void Engine::advance(uint32_t block) {
  BlockState &state = states[block];
  const Step &step = stepOf(block);
  state.phase = Phase::Blocked;
  if (!awaitSteps(block, step) || !awaitMessage(block, step) || !awaitSlot(block, step))
    return;
  if (Event *event = record(eventOf(block)))
    event->ready = state.ready;
  state.phase = work.needsProcessor(block) ? Phase::Starting : Phase::Stepping;
  queue.schedule(block, state.phase == Phase::Starting ? state.ready : state.ready + work.stepTime);
}

void Engine::wake(uint32_t block) {
  if (states[block].phase == Phase::Blocked)
    advance(block);
}

/// Starts a transfer, or schedules its end at once if nothing limits it.
void Engine::startTransfer(uint32_t actor, uint32_t list, double limit, double bytes, double now) {
  const std::span<const ResourceUse> uses = work.usesOf(list);
  hasTransfer[actor] = bytes > 0 && (!uses.empty() || std::isfinite(limit));
  if (hasTransfer[actor])
    sharing.add(actor, uses, limit, bytes, now);
  else
    queue.schedule(actor, now);
}

/// Spends the constant cost of a step on a processor, like a transfer of as many bytes as microseconds.
void Engine::startStep(uint32_t block, double now) {
  states[block].phase = Phase::Stepping;
  startTransfer(block, work.blocks[block].stepUses, 1, work.stepTime, now);
}

void Engine::begin(uint32_t block, double now) {
  BlockState &state = states[block];
  if (work.needsProcessor(block) && hasTransfer[block])
    sharing.remove(block, now);
  const Step &step = stepOf(block);
  const uint32_t out = work.blocks[block].out;
  if (Event *event = record(eventOf(block)))
    event->begin = now;
  state.phase = Phase::Moving;
  if (step.flags.sends() && work.cutsThrough && !work.connections[out].isNetwork) {
    SlotTimes &slot = slotOf(out, state.sent);
    slot.begin = now + work.firstGrain(step, state.tile) + work.connections[out].hop, slot.sentBy = eventOf(block);
    ++connections[out].begun;
    wake(work.connections[out].receiver);
  }
  startTransfer(block, step.uses, work.rate(step), work.bytes(step, state.tile), now);
}

void Engine::endTransfer(uint32_t block, double now) {
  if (hasTransfer[block]) {
    sharing.remove(block, now);
    if (Event *event = record(eventOf(block)))
      event->limiter = sharing.limiter(block);
  }
  if (!work.cutsThrough || !stepOf(block).flags.receives())
    return complete(block, now);
  states[block].phase = Phase::Draining;
  drain(block, now);
}

/// Schedules the end of a step whose own transfer ended at `now`, but which also needs the end of its message.
void Engine::drain(uint32_t block, double now) {
  const uint32_t in = work.blocks[block].in;
  states[block].ready = now;
  if (connections[in].ended <= states[block].received)
    return;
  const SlotTimes &slot = slotOf(in, states[block].received);
  if (slot.end > now)
    if (Event *event = record(eventOf(block)))
      event->awaitsEnd = true;
  queue.schedule(block, std::max(now, slot.end));
}

void Engine::complete(uint32_t block, double now) {
  BlockState &state = states[block];
  const Step &step = stepOf(block);
  if (Event *event = record(eventOf(block)))
    event->end = now;
  if (step.flags.sends())
    publishMessage(block, now);
  if (step.flags.receives()) {
    ++state.received;
    if (state.received - state.returned >= work.blocks[block].batch)
      returnSlots(block, now, eventOf(block));
  }
  completeStep(block, now, step);
  next(block, now);
}

void Engine::publishMessage(uint32_t block, double now) {
  const uint32_t out = work.blocks[block].out;
  const Workload::Connection &connection = work.connections[out];
  SlotTimes &slot = slotOf(out, states[block].sent++);
  slot.sentBy = eventOf(block);
  if (connection.isNetwork) {
    slot.putBytes = work.putBytes(stepOf(block));
    ++connections[out].requested;
    if (!connections[out].isPutting)
      beginPut(out, now);
    return;
  }
  slot.end = now + connection.hop;
  ++connections[out].ended;
  if (!work.cutsThrough)
    slot.begin = slot.end, ++connections[out].begun;
  BlockState &receiver = states[connection.receiver];
  if (receiver.phase == Phase::Draining && connections[out].ended == receiver.received + 1)
    drain(connection.receiver, receiver.ready);
  else
    wake(connection.receiver);
}

void Engine::returnSlots(uint32_t block, double now, uint64_t event) {
  BlockState &state = states[block];
  const uint32_t in = work.blocks[block].in;
  for (; state.returned < state.received; ++state.returned) {
    SlotTimes &slot = slotOf(in, state.returned);
    slot.freed = now + work.connections[in].hop, slot.freedBy = event;
  }
  connections[in].freed = state.returned;
  if (work.connections[in].isNetwork) // the call waits until all slots are free
    noteEnd(now + work.connections[in].hop, event);
  wake(work.connections[in].sender);
}

void Engine::completeStep(uint32_t block, double now, const Step &step) {
  ++completed[block];
  if (!step.isAwaited)
    return;
  stepEnds.add(work.blocks[block].firstStep + states[block].step, states[block].tile, now);
  uint32_t waiter = states[block].firstWaiter;
  states[block].firstWaiter = None;
  while (waiter != None) { // those that wait for a later step join the list again
    const uint32_t following = states[waiter].nextWaiter;
    states[waiter].isListed = false;
    advance(waiter);
    waiter = following;
  }
}

void Engine::next(uint32_t block, double now) {
  BlockState &state = states[block];
  const uint64_t before = eventOf(block);
  if (++state.step == work.blocks[block].stepCount) {
    state.step = 0;
    if (++state.tile == work.tiles())
      return finish(block, now);
  }
  state.ready = now + work.prepareTime, state.condition = 0;
  if (Event *event = record(eventOf(block)))
    event->cause = Cause::Order, event->causedBy = before;
  advance(block);
}

/// Notes that the call does not end before `time`, because of this event.
void Engine::noteEnd(double time, uint64_t event) {
  if (time <= endTime)
    return;
  endTime = time;
  if (events)
    events->last = event;
}

void Engine::finish(uint32_t block, double now) {
  BlockState &state = states[block];
  state.phase = Phase::Done;
  --running;
  const Workload::Block &own = work.blocks[block];
  const uint64_t last = (work.tiles() - 1) * work.steps.size() + own.firstStep + own.stepCount - 1;
  noteEnd(now, last);
  if (state.received != state.returned)
    returnSlots(block, now, last);
}

/// Starts the put of the connection's next message. Puts of a connection follow each other.
void Engine::beginPut(uint32_t connection, double now) {
  ConnectionState &state = connections[connection];
  state.isPutting = true;
  if (Event *event = record(slotOf(connection, state.put).sentBy))
    event->putBegin = event->putEnd = now;
  startTransfer(static_cast<uint32_t>(states.size()) + connection, work.connections[connection].putUses,
                topology::Unlimited, slotOf(connection, state.put).putBytes, now);
}

void Engine::endPut(uint32_t connection, double now) {
  ConnectionState &state = connections[connection];
  const uint32_t actor = static_cast<uint32_t>(states.size()) + connection;
  SlotTimes &slot = slotOf(connection, state.put++);
  if (hasTransfer[actor]) {
    sharing.remove(actor, now);
    if (Event *event = record(slot.sentBy))
      event->putLimiter = sharing.limiter(actor), event->putEnd = now;
  }
  slot.begin = slot.end = now + work.connections[connection].hop;
  state.begun = state.ended = state.put;
  state.isPutting = false;
  if (state.put < state.requested)
    beginPut(connection, now);
  wake(work.connections[connection].receiver);
}

std::string Engine::describeDeadlock() const {
  for (uint32_t block = 0; block < states.size(); ++block)
    if (states[block].phase != Phase::Done)
      return "the program deadlocks: rank " + std::to_string(work.blocks[block].rank) + " can't run step " +
             std::to_string(states[block].step) + " of a thread block in tile " + std::to_string(states[block].tile);
  return {};
}

} // namespace gc3::simulate
