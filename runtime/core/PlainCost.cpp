// SPDX-License-Identifier: Apache-2.0
#include "core/PlainCost.h"

#include <algorithm>

namespace gc3::core {

PlainCost PlainCost::of(const Program &program) {
  PlainCost cost;
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const bundle::RankView &rank = program.rank(r);
    for (const bundle::fbs::ThreadBlock &block : rank.threadBlocks)
      cost.steps = std::max(cost.steps, block.instruction_count());
    double moved = 0;
    for (const bundle::fbs::Instruction &step : rank.instructions)
      moved += step.count();
    if (const uint32_t slots = std::max(rank.inputSlots, rank.outputSlots); slots != 0)
      cost.bytesMoved = std::max(cost.bytesMoved, moved / slots);
  }
  return cost;
}

double PlainCost::time(double bytes) const {
  constexpr double microsecondsPerStep = 1, microsecondsPerByte = 1e-4;
  return steps * microsecondsPerStep + bytesMoved * bytes * microsecondsPerByte;
}

} // namespace gc3::core
