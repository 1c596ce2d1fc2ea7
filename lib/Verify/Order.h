// SPDX-License-Identifier: Apache-2.0
// One order in which a program can run.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::verify {

/// Steps [first, end) of one thread block, run consecutively.
struct Stretch {
  uint32_t block;
  uint32_t first;
  uint32_t end;
};

/// The steps of a whole execution, in the order in which they ran.
using Order = std::vector<Stretch>;

/// The same order, rank by rank. A step accesses only memory of its own rank, so the steps of other ranks in between do
/// not matter.
class RankOrders {
public:
  RankOrders(const ir::Program &program, const Order &order);

  /// Calls `visit(block, step)` for the steps of a rank, in their order; `step` counts within the thread block.
  template <typename Visit>
  void forEachStep(uint32_t rank, Visit visit) const {
    for (size_t i = begin[rank]; i != begin[rank + 1]; ++i)
      for (uint32_t step = stretches[i].first; step != stretches[i].end; ++step)
        visit(stretches[i].block, step);
  }

private:
  std::vector<size_t> begin;
  std::vector<Stretch> stretches;
};

} // namespace gc3::verify
