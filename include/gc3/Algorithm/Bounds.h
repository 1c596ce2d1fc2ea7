// SPDX-License-Identifier: Apache-2.0
// Lower bounds for all algorithms (SCCL section 3.7 uses such bounds to end its search).
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <functional>

namespace gc3::algorithm {

struct Bounds {
  uint32_t steps = 0; ///< minimum number of steps: the longest path of a chunk to a rank that needs it
  /// The minimum number of rounds is crossing / bandwidth, in lowest terms: `crossing` sends of chunks must use a set
  /// of links that carry `bandwidth` chunks in a round.
  uint64_t crossing = 0, bandwidth = 1;

  uint64_t rounds() const { return (crossing + bandwidth - 1) / bandwidth; }
};

/// Returns bounds for a demand without reductions on a connected topology. Counts the chunks that leave and enter sets
/// of ranks. Examines all sets if there are at most 16 ranks; otherwise examines single ranks, the ranks below each
/// number, halves of a lattice, and the machines that the fastest links form. Also counts the sends over all links
/// together: a chunk needs at least one send per rank that must get it, and at least as many sends as there are hops to
/// the farthest of these ranks. Linear except for the distances, which take at most ranks times links. Calls `stops`
/// several times a second; once it returns true, returns the bounds found so far.
Bounds lowerBounds(const topology::Topology &topology, const Demand &demand, const std::function<bool()> &stops = {});

/// Returns, by link, whether an algorithm of `rounds` rounds must use the full bandwidth of the link in every round:
/// for some set of ranks, as above, the sends that must cross need the whole capacity.
std::vector<uint8_t> fullLinks(const topology::Topology &topology, const Demand &demand, uint32_t rounds,
                               const std::function<bool()> &stops = {});

} // namespace gc3::algorithm
