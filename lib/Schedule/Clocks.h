// SPDX-License-Identifier: Apache-2.0
// Vector clocks that share what they have in common. A rank can have a thousand thread blocks, each of which may come
// to know of all the others; with vectors in full, clocks would take space for every pair of them at every wait.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gc3::schedule {

/// The clocks of one rank: for each of its thread blocks the number of steps known to be finished. A clock never
/// changes once made. It is a tree of nodes with `fan` children, where what is the same in two clocks is the same
/// subtree; so joining clocks costs what they differ in, and changing one entry a path of new nodes.
class Clocks {
public:
  using Clock = uint32_t;
  static constexpr Clock Nothing = 0; ///< knows of no step

  /// Forgets all clocks and begins anew for a rank with `blocks` thread blocks.
  void reset(uint32_t blocks);

  uint32_t known(Clock clock, uint32_t block) const {
    for (uint32_t level = levels; level-- != 0;)
      clock = nodes[clock][block >> (level * fanBits) & (fan - 1)];
    return clock; // at the last level the entry itself
  }

  /// The clock that also knows `steps` steps of `block`.
  Clock with(Clock clock, uint32_t block, uint32_t steps) { return with(clock, block, steps, levels); }

  /// The clock that knows what either knows.
  Clock join(Clock a, Clock b) { return join(a, b, levels); }

private:
  static constexpr uint32_t fanBits = 2;
  static constexpr uint32_t fan = 1u << fanBits;
  using Node = std::array<uint32_t, fan>; // numbers of nodes, or at the last level of steps

  uint32_t with(uint32_t node, uint32_t block, uint32_t steps, uint32_t level);
  uint32_t join(uint32_t a, uint32_t b, uint32_t level);
  uint32_t add(const Node &node);

  uint32_t levels = 0;
  std::vector<Node> nodes; // the first one is Nothing at every level
};

} // namespace gc3::schedule
