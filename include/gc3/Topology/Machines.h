// SPDX-License-Identifier: Apache-2.0
// Groups ranks into machines, which the fastest links connect, and extracts parts of a topology.
#pragma once

#include "gc3/Topology/Topology.h"

namespace gc3::topology {

/// Returns a machine number for each rank. Ranks have the same number if links of the largest bandwidth connect them;
/// network links do not count. Machines are numbered from 0 in the order of their first ranks.
std::vector<uint32_t> machinesOf(const Topology &topology);

/// Some links of a topology, as a topology of their own.
struct Part {
  Topology topology;
  std::vector<uint32_t> links; ///< number in the whole topology, by link of this part
};

/// Returns the part with these links, between `ranks` ranks. Rank r of the whole topology becomes newRank[r]. Each
/// bound is restricted to these links.
Part partOf(const Topology &whole, const BoundsOfLinks &boundsOf, std::vector<uint32_t> links,
            const std::vector<uint32_t> &newRank, uint32_t ranks);

} // namespace gc3::topology
