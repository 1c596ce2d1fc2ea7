// SPDX-License-Identifier: Apache-2.0
#include "NaiveEngine.h"
#include <algorithm>
#include <cmath>

namespace gc3::simulate {

/// Times that differ by less than this part count as equal.
static constexpr double same = 1e-12;

static double timeOf(const std::vector<double> &times, uint64_t index) {
  return index < times.size() ? times[index] : std::numeric_limits<double>::infinity();
}

NaiveEngine::NaiveEngine(const Workload &workload)
    : work(workload), blocks(workload.blocks.size()), connections(workload.connections.size()) {}

const Workload::Step &NaiveEngine::step(uint32_t number) const {
  const Workload::Block &block = work.blocks[number];
  return work.steps[block.firstStep + blocks[number].next % block.stepCount];
}

bool NaiveEngine::isDone(uint32_t number) const {
  return blocks[number].next == work.blocks[number].stepCount * work.tiles();
}

/// Returns the time at which the block's step begins, or Unknown.
double NaiveEngine::beginOf(uint32_t number) const {
  const Block &block = blocks[number];
  const Workload::Step &current = step(number);
  double ready = block.ready;
  for (uint32_t i = 0; i < current.waitCount; ++i) {
    const Workload::Wait &wait = work.waits[current.firstWait + i];
    const uint64_t awaited = tile(number) * work.blocks[wait.block].stepCount + wait.step;
    ready = std::max(ready, timeOf(blocks[wait.block].ends, awaited) + work.waitTime);
  }
  if (current.flags.receives())
    ready = std::max(ready, timeOf(connections[work.blocks[number].in].begun, block.received));
  if (current.flags.sends() && block.sent >= work.slots)
    ready = std::max(ready, timeOf(connections[work.blocks[number].out].freed, block.sent - work.slots));
  return ready + work.stepTime;
}

void NaiveEngine::start(Transfer &transfer, uint32_t uses, double limit, double bytes) {
  transfer = {true, uses, limit, bytes, 0};
}

bool NaiveEngine::isOver(const Transfer &transfer) const {
  const bool isFree = work.usesOf(transfer.uses).empty() && !std::isfinite(transfer.limit);
  return isFree || transfer.remaining <= 0 || transfer.remaining <= transfer.rate * now * same;
}

/// Does what the block can do at time `now`. Returns false if that is nothing.
bool NaiveEngine::advanceBlock(uint32_t number) {
  if (isDone(number))
    return false;
  Block &block = blocks[number];
  const Workload::Step &current = step(number);
  const uint32_t in = work.blocks[number].in, out = work.blocks[number].out;
  if (block.hasMoved) { // only under LL and LL128
    if (timeOf(connections[in].ended, block.received) > now * (1 + same))
      return false;
    complete(number);
  } else if (!block.transfer.isMoving) {
    if (beginOf(number) > now * (1 + same))
      return false;
    start(block.transfer, current.uses, work.rate(current), work.bytes(current, tile(number)));
    if (current.flags.sends() && work.cutsThrough && !work.connections[out].isNetwork)
      connections[out].begun.push_back(now + work.firstGrain(current, tile(number)) + work.connections[out].hop);
  } else {
    if (!isOver(block.transfer))
      return false;
    block.transfer.isMoving = false;
    block.hasMoved = work.cutsThrough && current.flags.receives();
    if (!block.hasMoved)
      complete(number);
  }
  return true;
}

void NaiveEngine::complete(uint32_t number) {
  Block &block = blocks[number];
  const Workload::Step current = step(number);
  const uint32_t in = work.blocks[number].in, out = work.blocks[number].out;
  block.hasMoved = false, block.ends.push_back(now), block.ready = now + work.prepareTime;
  ++block.next;
  if (current.flags.sends()) {
    ++block.sent;
    Connection &to = connections[out];
    if (work.connections[out].isNetwork)
      to.requested.push_back(now), to.bytes.push_back(work.putBytes(current));
    else
      to.ended.push_back(now + work.connections[out].hop);
    if (!work.connections[out].isNetwork && !work.cutsThrough)
      to.begun.push_back(to.ended.back());
  }
  block.received += current.flags.receives() ? 1 : 0;
  if (block.received - block.returned >= work.blocks[number].batch || isDone(number))
    for (; block.returned < block.received; ++block.returned) {
      connections[in].freed.push_back(now + work.connections[in].hop);
      if (work.connections[in].isNetwork)
        last = std::max(last, connections[in].freed.back());
    }
  last = std::max(last, now);
}

bool NaiveEngine::advanceConnection(uint32_t number) {
  Connection &connection = connections[number];
  if (!connection.transfer.isMoving) {
    if (connection.put == connection.requested.size())
      return false;
    start(connection.transfer, work.connections[number].putUses, Unknown, connection.bytes[connection.put]);
    return true;
  }
  if (!isOver(connection.transfer))
    return false;
  connection.transfer.isMoving = false;
  ++connection.put;
  const double hop = work.connections[number].hop;
  connection.begun.push_back(now + hop), connection.ended.push_back(now + hop);
  return true;
}

std::vector<NaiveEngine::Transfer *> NaiveEngine::moving() {
  std::vector<Transfer *> result;
  for (Block &block : blocks)
    if (block.transfer.isMoving)
      result.push_back(&block.transfer);
  for (Connection &connection : connections)
    if (connection.transfer.isMoving)
      result.push_back(&connection.transfer);
  return result;
}

/// All transfers rise at the same pace. Those that reach their limit, or a full resource, keep their rate.
void NaiveEngine::share() {
  std::vector<Transfer *> open = moving();
  std::vector<double> free = work.capacities;
  while (!open.empty()) {
    std::vector<double> weights(free.size());
    double level = Unknown;
    for (const Transfer *transfer : open) {
      level = std::min(level, transfer->limit);
      for (const ResourceUse &use : work.usesOf(transfer->uses))
        weights[use.resource] += use.weight;
    }
    for (size_t i = 0; i < free.size(); ++i)
      if (weights[i] > 0)
        level = std::min(level, free[i] / weights[i]);
    std::vector<Transfer *> rising;
    std::vector<double> left = free;
    for (Transfer *transfer : open) {
      bool isFull = transfer->limit <= level * (1 + same);
      for (const ResourceUse &use : work.usesOf(transfer->uses))
        isFull = isFull || free[use.resource] / weights[use.resource] <= level * (1 + same);
      if (!isFull) {
        rising.push_back(transfer);
        continue;
      }
      transfer->rate = level;
      for (const ResourceUse &use : work.usesOf(transfer->uses))
        left[use.resource] = std::max(0.0, left[use.resource] - level * use.weight);
    }
    open.swap(rising), free.swap(left);
  }
}

/// Returns the next time at which something can happen, or Unknown.
double NaiveEngine::nextTime() {
  double next = Unknown;
  for (const Transfer *transfer : moving())
    next = std::min(next, now + transfer->remaining / transfer->rate);
  for (uint32_t number = 0; number < blocks.size(); ++number) {
    if (isDone(number) || blocks[number].transfer.isMoving)
      continue;
    next = std::min(next, blocks[number].hasMoved
                              ? timeOf(connections[work.blocks[number].in].ended, blocks[number].received)
                              : beginOf(number));
  }
  return next;
}

double NaiveEngine::run() {
  now = last = work.launch;
  for (Block &block : blocks)
    block.ready = work.launch;
  for (;;) {
    bool isStill = false;
    while (!isStill) {
      isStill = true;
      for (uint32_t number = 0; number < blocks.size(); ++number)
        while (advanceBlock(number))
          isStill = false;
      for (uint32_t number = 0; number < connections.size(); ++number)
        while (advanceConnection(number))
          isStill = false;
    }
    share();
    const double next = nextTime();
    if (next == Unknown)
      break;
    for (Transfer *transfer : moving())
      transfer->remaining -= transfer->rate * (next - now);
    now = next;
  }
  for (uint32_t number = 0; number < blocks.size(); ++number)
    if (!isDone(number))
      return Unknown;
  return last;
}

} // namespace gc3::simulate
