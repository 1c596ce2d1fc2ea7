// SPDX-License-Identifier: Apache-2.0
// Remaining capacity of links, and of bounds over several links, in one step.
#pragma once

#include "gc3/Topology/Topology.h"

namespace gc3::greedy {

class Capacity {
public:
  Capacity(const topology::Topology &topology, uint32_t roundsPerStep);

  /// Starts a new step with full capacity.
  void begin();
  bool allows(uint32_t link) const;
  /// Uses capacity for one chunk; allows() must be true.
  void take(uint32_t link);

private:
  const uint32_t links;
  const topology::BoundsOfLinks boundsOf;
  std::vector<uint32_t> limits; ///< chunks per step, first by link, then by bound
  std::vector<uint32_t> left;   ///< chunks that still fit into this step, in the same order
};

} // namespace gc3::greedy
