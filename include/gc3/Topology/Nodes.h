// SPDX-License-Identifier: Apache-2.0
// The nodes of a topology: the ranks that something other than a network joins.
#pragma once

#include "gc3/Topology/Topology.h"

namespace gc3::topology {

/// Returns the node of each rank, as the number of the node's lowest rank. Linear in the links and the ports, except
/// for a factor that grows very slowly.
std::vector<uint64_t> nodesOf(const Topology &topology);

} // namespace gc3::topology
