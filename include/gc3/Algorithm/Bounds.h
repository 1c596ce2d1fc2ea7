// SPDX-License-Identifier: Apache-2.0
// What no algorithm can be better than (SCCL section 3.7 uses such bounds to end its search).
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <functional>

namespace gc3::algorithm {

struct Bounds {
  uint32_t steps = 0; ///< no fewer: the farthest way of a chunk
  /// No fewer rounds than crossing / bandwidth: so many sends of chunks have to go over some links, which let
  /// `bandwidth` through in a round. In lowest terms.
  uint64_t crossing = 0, bandwidth = 1;

  uint64_t rounds() const { return (crossing + bandwidth - 1) / bandwidth; }
};

/// For demands without reductions, on a connected topology. Looks at what leaves and enters sets of ranks: all sets of
/// 16 ranks or fewer; of more, single ranks, those below each number, halves of a lattice, and the machines that the
/// fastest links make. And at all links together, over which each chunk goes at least once for each rank that has to
/// get it, and as often as the farthest of them is away. Linear but for the distances, ranks times links at most.
/// Once `stops` is true, asked several times a second, what has been looked at by then makes the bounds.
Bounds lowerBounds(const topology::Topology &topology, const Demand &demand, const std::function<bool()> &stops = {});

/// By link, whether an algorithm of so many rounds has to send over it, in each of them, all that it lets through: in
/// some set of ranks, as above, there is no more room than what has to go there takes.
std::vector<uint8_t> fullLinks(const topology::Topology &topology, const Demand &demand, uint32_t rounds,
                               const std::function<bool()> &stops = {});

} // namespace gc3::algorithm
