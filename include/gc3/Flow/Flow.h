// SPDX-License-Identifier: Apache-2.0
// Finds algorithms for collectives in which all chunks go to one rank, or all chunks start on one rank. Such a demand
// is a single-commodity flow over the rounds, because the identity of a chunk does not matter until the flow is cut
// into paths. So the least number of rounds is the first for which a time-expanded maximum flow carries all chunks.
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include <functional>
#include <optional>

namespace gc3::flow {

struct Options {
  uint32_t roundsPerStep = 1; ///< 1: the fewest rounds, then few steps; more: the fewest steps of this many rounds
  uint64_t mostSends = UINT64_MAX;
  std::function<bool()> stops; ///< called several times a second; once it returns true, the search ends
};

struct Result {
  std::optional<algorithm::Algorithm> algorithm;
  uint64_t leastRounds = 0; ///< no algorithm has fewer rounds; the rounds of `algorithm` are exact if equal
  uint32_t leastSteps = 0;  ///< no algorithm with `leastRounds` rounds has fewer steps
};

/// Returns true if each chunk has one source and one target rank, and all chunks have the same target or the same
/// source.
bool applies(const algorithm::Demand &demand);

/// Returns an algorithm for a demand to which flow applies, on a connected topology. The number of rounds is the least
/// if each bound covers links that leave one rank, or links that enter one rank, and bounds at one rank are disjoint or
/// nested. With other bounds, the result can have more rounds than `leastRounds`. Returns no algorithm if stopped, if
/// a bound lists a link twice, or if the search reaches its limit on work or memory. Throws std::length_error if every
/// algorithm has more than `mostSends` sends. Deterministic.
Result search(const topology::Topology &topology, const algorithm::Demand &demand, const Options &options);

/// Returns a lower bound on the rounds for any demand without reductions, at least `from`. The chunks that a rank wants
/// are a Gather to this rank, and need as many rounds. Examines as many ranks as fit into some seconds, those with the
/// most chunks for their links first.
uint64_t leastRounds(const topology::Topology &topology, const algorithm::Demand &demand, uint64_t from,
                     const std::function<bool()> &stops);

} // namespace gc3::flow
