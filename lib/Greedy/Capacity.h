// SPDX-License-Identifier: Apache-2.0
// What links, and bounds over several of them, still let through in a step.
#pragma once

#include "gc3/Topology/Topology.h"

namespace gc3::greedy {

class Capacity {
public:
  Capacity(const topology::Topology &topology, uint32_t roundsPerStep);

  /// A new step: nothing is used.
  void begin();
  bool allows(uint32_t link) const;
  /// One chunk more, which it allows.
  void take(uint32_t link);

private:
  const uint32_t links;
  const topology::BoundsOfLinks boundsOf;
  std::vector<uint32_t> limits; ///< by link, then by bound
  std::vector<uint32_t> left;   ///< in this step
};

} // namespace gc3::greedy
