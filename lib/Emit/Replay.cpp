// SPDX-License-Identifier: Apache-2.0
// First computes the ticks. Runs each thread block until it reaches a step that depends on a step without a tick, and
// resumes the thread block when this other step gets its tick. Then executes the steps on symbolic values, in the order
// of their ticks. Both passes are linear.
#include "gc3/Emit/Replay.h"
#include "gc3/IR/SlotTracker.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace gc3::ir;
using gc3::emit::Replay;

namespace {

/// Sets the tick of every step.
class Clock {
public:
  Clock(const Program &program, Replay &replay)
      : program(program), replay(replay), position(program.threadBlocks.size()),
        nextWaiter(program.threadBlocks.size(), None), firstWaiter(program.steps.size(), None) {}
  void run();

private:
  template <typename Visit>
  void dependencies(uint32_t block, uint32_t step, Visit visit) const;
  bool start(uint32_t block, uint32_t step);
  void runBlock(uint32_t block);

  const Program &program;
  Replay &replay;
  std::vector<uint32_t> position;    // by thread block: number of its steps that have a tick
  std::vector<uint32_t> nextWaiter;  // by thread block: the next thread block that waits for the same step
  std::vector<uint32_t> firstWaiter; // by step: the first thread block that waits for it
  std::vector<uint32_t> ready;
};

/// Executes the steps on symbolic values.
class Memory {
public:
  Memory(const Program &program, Replay &replay)
      : program(program), replay(replay), map(program.bufferSizes, program.info->bufferCount()),
        slots(map.total(), None) {}
  void run();

private:
  void fillInputs();
  void execute(uint32_t rank, uint32_t step);
  uint32_t combine(uint32_t a, uint32_t b);

  const Program &program;
  Replay &replay;
  SlotMap map;
  std::vector<uint32_t> slots; // symbolic values, indexed by `map`
};

} // namespace

/// Calls `visit` for every step that must end before `step` can begin.
template <typename Visit>
void Clock::dependencies(uint32_t block, uint32_t step, Visit visit) const {
  const ThreadBlock &own = program.threadBlocks[block];
  const Step &record = program.steps[step];
  if (step != own.firstStep)
    visit(step - 1);
  for (uint32_t i = record.waitBegin; i != record.waitBegin + record.waitCount; ++i) {
    const Wait &wait = program.waits[i];
    visit(program.threadBlocks[program.rankBegin[own.rank] + wait.threadBlock].firstStep + wait.step);
  }
  for (uint32_t other : {replay.messages.senderOf[step], replay.messages.freedBy[step]})
    if (other != None)
      visit(other);
}

/// Sets the tick of a step if all its dependencies have one. Otherwise adds its thread block to the waiters of a
/// dependency without a tick, and returns false.
bool Clock::start(uint32_t block, uint32_t step) {
  uint32_t begin = 0;
  uint32_t missing = None;
  dependencies(block, step, [&](uint32_t other) {
    if (replay.tick[other] == None)
      missing = other;
    else
      begin = std::max(begin, replay.tick[other] + 1);
  });
  if (missing != None) {
    nextWaiter[block] = firstWaiter[missing];
    firstWaiter[missing] = block;
    return false;
  }
  replay.tick[step] = begin;
  replay.ticks = std::max(replay.ticks, begin + 1);
  return true;
}

void Clock::runBlock(uint32_t block) {
  const ThreadBlock &own = program.threadBlocks[block];
  for (; position[block] != own.stepCount; ++position[block]) {
    uint32_t step = own.firstStep + position[block];
    if (!start(block, step))
      return;
    for (uint32_t waiter = firstWaiter[step]; waiter != None; waiter = nextWaiter[waiter])
      ready.push_back(waiter);
  }
}

void Clock::run() {
  replay.tick.assign(program.steps.size(), None);
  ready.resize(program.threadBlocks.size());
  std::iota(ready.rbegin(), ready.rend(), 0);
  while (!ready.empty()) {
    uint32_t block = ready.back();
    ready.pop_back();
    runBlock(block);
  }
  assert(std::count(replay.tick.begin(), replay.tick.end(), None) == 0 && "Verify has seen that the program ends");
}

void Memory::fillInputs() {
  const Collective &collective = program.info->collective;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, InputBuffer) * program.subdivision;
    if (size == 0)
      continue;
    auto begin = slots.begin() + map.first(collective, rank, InputBuffer, program.subdivision);
    std::iota(begin, begin + size, replay.inputs);
    replay.inputs += size;
  }
}

uint32_t Memory::combine(uint32_t a, uint32_t b) {
  replay.sums.emplace_back(a, b);
  return replay.inputs + static_cast<uint32_t>(replay.sums.size()) - 1;
}

void Memory::execute(uint32_t rank, uint32_t index) {
  const Step &step = program.steps[index];
  uint32_t *moved = &replay.values[replay.valueBegin[index]];
  const uint32_t *src = readsSrc(step.opcode) ? &slots[map.slot(rank, step.srcBuffer, step.srcIndex)] : nullptr;
  uint32_t *dst = writesDst(step.opcode) ? &slots[map.slot(rank, step.dstBuffer, step.dstIndex)] : nullptr;
  const uint32_t *first = src; // data to combine with `src`, or to move
  if (receives(step.opcode))
    first = &replay.values[replay.valueBegin[replay.messages.senderOf[index]]];
  else if (combinesIntoDst(step.opcode))
    first = dst;
  for (uint32_t i = 0; i != step.count; ++i)
    moved[i] = src != nullptr && first != src ? combine(first[i], src[i]) : first[i];
  if (dst != nullptr)
    std::copy_n(moved, step.count, dst);
}

void Memory::run() {
  fillInputs();
  replay.valueBegin = {0};
  for (const Step &step : program.steps)
    replay.valueBegin.push_back(replay.valueBegin.back() + step.count);
  replay.values.resize(replay.valueBegin.back());

  std::vector<uint32_t> rankOf(program.steps.size());
  for (const ThreadBlock &block : program.threadBlocks)
    std::fill_n(rankOf.begin() + block.firstStep, block.stepCount, block.rank);
  std::vector<uint32_t> begin(replay.ticks + 1); // a counting sort by tick
  for (uint32_t tick : replay.tick)
    ++begin[tick + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> order(program.steps.size());
  for (uint32_t step = 0; step != order.size(); ++step)
    order[begin[replay.tick[step]]++] = step;
  for (uint32_t step : order)
    execute(rankOf[step], step);
}

Replay gc3::emit::replay(const Program &program) {
  Replay result;
  result.messages = matchMessages(program);
  Clock(program, result).run();
  Memory(program, result).run();
  return result;
}
