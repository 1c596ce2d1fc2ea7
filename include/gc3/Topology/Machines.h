// SPDX-License-Identifier: Apache-2.0
// Ranks that the fastest links connect, and what is inside of each such machine and between them.
#pragma once

#include "gc3/Topology/Topology.h"

namespace gc3::topology {

/// Ranks of one number are connected by links of the largest bandwidth, those of a network aside. By rank, numbered
/// from 0 on in the order of their first ranks.
std::vector<uint32_t> machinesOf(const Topology &topology);

/// Some links of a topology, as one of its own.
struct Part {
  Topology topology;
  std::vector<uint32_t> links; ///< which link of the whole each is
};

/// These links, between `ranks` ranks; rank r of the whole is newRank[r]. Of bounds stays what they say of these links.
Part partOf(const Topology &whole, const BoundsOfLinks &boundsOf, std::vector<uint32_t> links,
            const std::vector<uint32_t> &newRank, uint32_t ranks);

} // namespace gc3::topology
