// SPDX-License-Identifier: Apache-2.0
// Vector clocks that share equal parts. A rank can have a thousand thread blocks, and each block can learn the progress
// of all others. Full vectors would need an entry per thread block for every wait.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace gc3 {

/// A clock stores, for each thread block of a rank, the number of steps known to be finished. A clock is a tree whose
/// nodes have `fan` children. Clocks share subtrees: join() visits only the subtrees that differ, and with() creates
/// only the nodes on one path. A finished clock never changes.
class Clocks {
public:
  using Clock = uint32_t;
  static constexpr Clock Nothing = 0; ///< the clock that knows no finished step

  /// Creates a store for clocks with up to `blocks` entries.
  explicit Clocks(uint32_t blocks);

  uint32_t known(Clock clock, uint32_t block) const {
    for (uint32_t level = levels; level-- != 0;)
      clock = nodes[clock][block >> (level * fanBits) & (fan - 1)];
    return clock; // the entry of the last level
  }

  /// Calls `visit(block, steps)` for every entry that is not 0.
  template <typename Visit>
  void forEach(Clock clock, Visit visit) const {
    forEach(clock, levels, 0, visit);
  }

  /// Starts a new clock, which the caller builds with join() and with(). All earlier clocks are finished. Each result
  /// replaces the clock passed as `draft`; the caller must not use that draft again if it was created after start().
  void start() { firstDraft = static_cast<uint32_t>(nodes.size()); }
  /// Returns a clock that also includes everything that `other` knows. `other` must be finished.
  Clock join(Clock draft, Clock other) { return join(draft, other, levels); }
  /// Returns a clock that also includes `steps` finished steps of `block`.
  Clock with(Clock draft, uint32_t block, uint32_t steps) { return with(draft, block, steps, levels); }

  /// A clock being built. If `step` is not Mixed, each clock that knows that this step of `block` is finished includes
  /// everything that `clock` knows, because it was joined with the clock of that step.
  struct Draft {
    static constexpr uint32_t Mixed = ~uint32_t(0);
    Clock clock = Nothing;
    uint32_t block = 0;
    uint32_t step = Mixed;
  };
  /// Joins a draft with `other`, the clock of step `step` of `block`. Takes only logarithmic time if one of the two
  /// clocks includes the other, which is usual.
  void join(Draft &draft, uint32_t block, uint32_t step, Clock other) {
    if (known(draft.clock, block) > step)
      return;
    if (draft.clock == Nothing || known(other, draft.block) > draft.step)
      draft = {other, block, step};
    else
      draft = {join(draft.clock, other), block, Draft::Mixed};
  }

private:
  static constexpr uint32_t fanBits = 2;
  static constexpr uint32_t fan = 1u << fanBits;
  using Node = std::array<uint32_t, fan>; // numbers of nodes; at the last level, numbers of steps

  template <typename Visit>
  void forEach(uint32_t node, uint32_t level, uint32_t block, Visit &visit) const {
    if (node == Nothing)
      return;
    if (level == 0)
      return visit(block, node);
    for (uint32_t i = 0; i != fan; ++i)
      forEach(nodes[node][i], level - 1, block << fanBits | i, visit);
  }
  uint32_t with(uint32_t node, uint32_t block, uint32_t steps, uint32_t level);
  uint32_t join(uint32_t a, uint32_t b, uint32_t level);
  uint32_t put(uint32_t draft, const Node &contents);

  uint32_t levels = 1;
  uint32_t firstDraft = 1;          // nodes from this number on belong to the clock being built and can be changed
  llvm::SmallVector<Node, 0> nodes; // node 0 is Nothing at every level
};

} // namespace gc3
