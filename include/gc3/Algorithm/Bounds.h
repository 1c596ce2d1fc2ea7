// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the steps and rounds of every algorithm for a demand. SCCL (section 3.7) ends its search when an
// algorithm reaches such a bound.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <algorithm>
#include <functional>

namespace gc3::algorithm {

struct Bounds {
  uint32_t steps = 0; ///< minimum number of steps: the largest number of hops from the source of a chunk to a rank that
                      ///< needs the chunk
  /// The minimum number of rounds is the fraction crossing / bandwidth, rounded up. The fraction divides the number of
  /// sends that must use some set of links by the number of chunks that these links carry together in a round. It is in
  /// lowest terms.
  uint64_t crossing = 0, bandwidth = 1;
  uint64_t atLeast = 0; ///< another lower bound on the rounds, which does not grow in proportion to the chunks

  uint64_t rounds() const { return std::max((crossing + bandwidth - 1) / bandwidth, atLeast); }
};

/// Returns bounds for a demand without reductions on a connected topology. Counts the chunks that must leave and enter
/// sets of ranks. With up to 16 ranks, examines all sets. With more ranks, examines single ranks, the ranks below k for
/// each k, the halves of a lattice, and the machines that the fastest links form. For machines, also counts the rounds
/// in which a chunk moves on from the rank at which it enters. Also counts the sends over all links
/// together. A chunk needs one send for each rank that must get it, and at least as many sends as there are hops to the
/// farthest of these ranks. Linear, except that the distances take up to ranks times links. Calls `stops` several times
/// a second; once it returns true, returns the bounds found so far.
Bounds lowerBounds(const topology::Topology &topology, const Demand &demand, const std::function<bool()> &stops = {});

/// Returns, by link, 1 if every algorithm of `rounds` rounds must use the full bandwidth of the link in every round,
/// else 0. This holds for the links that leave or enter one of the sets above, if the sends that must use these links
/// fill them in every round.
std::vector<uint8_t> fullLinks(const topology::Topology &topology, const Demand &demand, uint32_t rounds,
                               const std::function<bool()> &stops = {});

} // namespace gc3::algorithm
