// SPDX-License-Identifier: Apache-2.0
// Finds algorithms for topologies that are too large for a solver. The search proceeds step by step. In each step, each
// link sends chunks that it can bring closer to a rank that needs them. If it can send several chunks, it prefers rare
// chunks or long paths, and otherwise chooses at random. This is link-chunk matching on the time-expanded topology, as
// in TACOS (MICRO 2024). If all points of a lattice can send in the same way, the search first handles only one point.
// If all ranks need all chunks and the links divide the ranks into machines, the search also combines an algorithm
// between the machines with algorithms inside them. If each chunk has one target, the search also spreads the paths of
// chunks over the links.
#pragma once

#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

struct Options {
  uint64_t seed = 1;
  uint32_t tries = 0;          ///< number of tries; the best is kept; 0: as many as the size allows, up to 64
  uint32_t roundsPerStep = 1;  ///< rounds in each step; more rounds give fewer steps, but a rank can send on a chunk
                               ///< only in the step after it arrived, so links are idle more often
  std::function<bool()> stops; ///< called several times a second, and after each step of a try; once it returns true,
                               ///< the search ends and returns the best result so far
  uint64_t *leastRounds = nullptr; ///< if not null, receives a lower bound on the rounds if the search finds one
};

/// Maximum number of ranks of a topology. The search stores the distance between every two ranks.
inline constexpr uint32_t MostRanks = 8192;

/// Maximum number of sends in a result. It equals the default of gc3c --max-ops, because each send becomes an
/// operation.
inline constexpr uint64_t MostSends = 1 << 22;

/// Returns an algorithm for `demand`, which must have no reductions, on a connected topology. Keeps the algorithm with
/// the fewest rounds. Among tries of one method with equal rounds, keeps the one with the fewest steps. Ends when a try
/// reaches the lower bound. The same seed gives the same result. Returns nothing if stopped before the first try has
/// ended. Throws std::length_error if the algorithm has more than MostSends sends.
std::optional<algorithm::Algorithm> search(const topology::Topology &topology, const algorithm::Demand &demand,
                                           const Options &options);

} // namespace gc3::greedy
