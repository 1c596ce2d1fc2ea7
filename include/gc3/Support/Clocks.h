// SPDX-License-Identifier: Apache-2.0
// Vector clocks that share what they have in common. A rank can have a thousand thread blocks, each of which may come
// to know of all the others; with vectors in full, clocks would take space for every pair of them at every wait.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace gc3 {

/// For each of a rank's thread blocks the number of steps known to be finished. A finished clock never changes. It is a
/// tree of nodes with `fan` children, where what is the same in two clocks is the same subtree; so joining clocks costs
/// what they differ in, and changing one entry a path of new nodes.
class Clocks {
public:
  using Clock = uint32_t;
  static constexpr Clock Nothing = 0; ///< knows of no step

  /// Clocks with up to `blocks` entries.
  explicit Clocks(uint32_t blocks);

  uint32_t known(Clock clock, uint32_t block) const {
    for (uint32_t level = levels; level-- != 0;)
      clock = nodes[clock][block >> (level * fanBits) & (fan - 1)];
    return clock; // at the last level the entry itself
  }

  /// Calls `visit(block, steps)` for every entry that is not 0.
  template <typename Visit>
  void forEach(Clock clock, Visit visit) const {
    forEach(clock, levels, 0, visit);
  }

  /// Starts the making of one clock by `join` and `with`; those made before are finished. What they return stands for
  /// what was passed as `draft`, which is not to be used any more if it was made since the start.
  void start() { firstDraft = static_cast<uint32_t>(nodes.size()); }
  /// The clock that also knows what `other`, a finished one, knows.
  Clock join(Clock draft, Clock other) { return join(draft, other, levels); }
  /// The clock that also knows `steps` steps of `block`.
  Clock with(Clock draft, uint32_t block, uint32_t steps) { return with(draft, block, steps, levels); }

private:
  static constexpr uint32_t fanBits = 2;
  static constexpr uint32_t fan = 1u << fanBits;
  using Node = std::array<uint32_t, fan>; // numbers of nodes, or at the last level of steps

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
  uint32_t set(uint32_t node, uint32_t place, uint32_t child);

  uint32_t levels = 1;
  uint32_t firstDraft = 1;          // nodes from here on belong to the clock that is being made, and can be changed
  llvm::SmallVector<Node, 0> nodes; // the first one is Nothing at every level
};

} // namespace gc3
