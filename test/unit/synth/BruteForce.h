// SPDX-License-Identifier: Apache-2.0
// Determines by exhaustive search whether an algorithm with a number of steps and rounds exists. Shares no code with
// the encoding: no bounds, no distances, no solver.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <map>
#include <set>

namespace gc3::synth {

/// Handles up to four ranks. A chunk is either copied from its only source, or it is a sum of contributions of all
/// ranks for one rank. Contributions move when they are sent, because each counts once.
class BruteForce {
public:
  BruteForce(const topology::Topology &topology, const algorithm::Demand &demand);

  /// Requires at least one step, and at least one round for each step.
  bool isPossible(uint32_t steps, uint32_t rounds) { return reaches(begin, steps, rounds); }

private:
  /// For each chunk: if it is copied, the set of ranks that have it; if it is a sum, two bits for each rank with the
  /// place of its contribution.
  using State = std::vector<uint32_t>;
  /// An incomplete step: the state at its end so far, and the remaining capacity of each bound.
  using Partial = std::pair<State, std::vector<int64_t>>;

  bool reaches(const State &now, uint32_t steps, uint32_t rounds);
  std::set<State> after(const State &now, uint32_t steps, uint32_t rounds) const;
  void sendOver(uint32_t link, uint32_t room, uint32_t firstChunk, uint32_t steps, const State &now,
                const Partial &partial, std::set<Partial> &out) const;
  bool canSend(uint32_t chunk, uint32_t link, uint32_t steps, const State &now, const State &next) const;
  void send(uint32_t chunk, uint32_t link, State &next) const;
  /// Returns the minimum number of hops until the chunk is at all its targets; 0 if it is there.
  uint32_t hopsLeft(uint32_t chunk, const State &state) const;
  uint32_t hopsLeft(const State &state) const;
  /// Returns a representative of all states that differ only by exchanging equivalent chunks.
  State canonical(State state) const;

  bool isSum(uint32_t chunk) const { return demand.sourcesOf(chunk).size() > 1; }
  uint32_t targetOf(uint32_t chunk) const { return demand.targetsOf(chunk)[0].rank; }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  State begin;
  std::vector<std::vector<uint32_t>> hops;                     ///< distances between ranks
  std::vector<std::vector<uint32_t>> boundsOf;                 ///< for each link
  std::vector<std::vector<uint32_t>> chunkClasses;             ///< classes of chunks with the same sources and targets
  std::map<std::tuple<State, uint32_t, uint32_t>, bool> known; ///< by state, remaining steps and remaining rounds
};

} // namespace gc3::synth
