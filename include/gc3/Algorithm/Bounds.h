// SPDX-License-Identifier: Apache-2.0
// What no algorithm can beat, by distances and by cuts (SCCL section 3.3 has the idea for Allgather).
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"

namespace gc3::algorithm {

/// Steps: the longest way that a chunk has to go. Rounds: the most that must go into, or out of, a set of ranks over
/// what can go there in a round, for single ranks, for ranks from 0 up to each one, for halves of a lattice, and for
/// the machines that remain if only the fastest links do; and all hops that chunks must make over all links.
struct Bounds {
  uint32_t steps = 0, rounds = 0;
};

/// For demands without reductions, on a connected topology. As much as ranks times links, in the worst case.
Bounds lowerBounds(const topology::Topology &topology, const Demand &demand);

} // namespace gc3::algorithm
