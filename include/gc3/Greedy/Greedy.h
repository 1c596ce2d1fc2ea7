// SPDX-License-Identifier: Apache-2.0
// Algorithms for topologies that are too large for a solver. Time runs step by step, and in each step links pick, at
// random, one of the chunks that get somewhere over them (link-chunk matching on the time-expanded topology, as TACOS
// does, MICRO 2024). What is sent alike from all points of a lattice is searched for one of them only; where links make
// machines, what is found for these and for what is between them is put together, too.
#pragma once

#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

struct Options {
  uint64_t seed = 1;
  uint32_t tries = 0;          ///< of which the best is kept; 0: as many as sizes allow, 64 at most
  uint32_t roundsPerStep = 1;  ///< more: fewer steps, but links wait for others more often
  std::function<bool()> stops; ///< asked several times a second, and after each step of a try; true from some time on:
                               ///< what has been found is returned
};

/// The most ranks of a topology: distances between all are kept.
inline constexpr uint32_t MostRanks = 8192;

/// The most sends of what is found: as many operations as gc3c takes of a file, unless told otherwise.
inline constexpr uint64_t MostSends = 1 << 22;

/// An algorithm for `demand`, which has no reductions, on a connected topology: that of the fewest rounds, of these
/// that of the fewest steps. Tries end when the lower bound is met. The same for the same seed. Nothing if it was
/// stopped before a try had ended. Throws std::length_error if it has too many sends.
std::optional<algorithm::Algorithm> search(const topology::Topology &topology, const algorithm::Demand &demand,
                                           const Options &options);

} // namespace gc3::greedy
