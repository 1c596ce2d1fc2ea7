// SPDX-License-Identifier: Apache-2.0
// First computes the ticks, then executes the steps on symbolic values, in the order of their ticks. Both passes are
// linear.
#include "gc3/Emit/Replay.h"
#include "StepOrder.h"
#include "gc3/IR/SlotTracker.h"
#include <algorithm>
#include <numeric>

using namespace gc3::ir;
using gc3::emit::Replay;

namespace {

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

/// Sets the tick of every step.
static void setTicks(const Program &program, Replay &replay) {
  replay.tick.assign(program.steps.size(), None);
  gc3::emit::StepOrder(program, replay.messages).run([&](uint32_t block, uint32_t step) {
    uint32_t begin = 0;
    gc3::emit::eachDependency(program, replay.messages, block, step, [&](uint32_t other, gc3::emit::Dependency) {
      begin = std::max(begin, replay.tick[other] + 1);
    });
    replay.tick[step] = begin;
    replay.ticks = std::max(replay.ticks, begin + 1);
  });
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
  setTicks(program, result);
  Memory(program, result).run();
  return result;
}
