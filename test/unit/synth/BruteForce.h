// SPDX-License-Identifier: Apache-2.0
// Searches exhaustively for an algorithm with given numbers of steps and rounds. Shares no code with the encoding: no
// bounds, no distances, no solver.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <map>
#include <set>

namespace gc3::synth {

/// Handles up to four ranks. A chunk either has one source and is copied, or is a sum with a contribution of each rank
/// and one target. Sending a contribution moves it, because each contribution must count once.
class BruteForce {
public:
  BruteForce(const topology::Topology &topology, const algorithm::Demand &demand);

  /// Returns true if an algorithm exists. Requires at least one step, and at least one round per step.
  bool isPossible(uint32_t steps, uint32_t rounds) { return reaches(begin, steps, rounds); }

private:
  /// One number per chunk. If the chunk is copied: the set of ranks that have it. If the chunk is a sum: for each rank,
  /// two bits with the rank on which its contribution lies.
  using State = std::vector<uint32_t>;
  /// An incomplete step: the state after the sends so far, and the remaining capacity of each bound.
  using Partial = std::pair<State, std::vector<int64_t>>;

  bool reaches(const State &now, uint32_t steps, uint32_t rounds);
  std::set<State> after(const State &now, uint32_t steps, uint32_t rounds) const;
  void sendOver(uint32_t link, uint32_t room, uint32_t firstChunk, uint32_t steps, const State &now,
                const Partial &partial, std::set<Partial> &out) const;
  bool canSend(uint32_t chunk, uint32_t link, uint32_t steps, const State &now, const State &next) const;
  void send(uint32_t chunk, uint32_t link, State &next) const;
  /// Returns the minimum number of steps until the chunk is at all its targets; 0 if it is already there.
  uint32_t hopsLeft(uint32_t chunk, const State &state) const;
  uint32_t hopsLeft(const State &state) const;
  /// Returns the representative of all states that differ only in the order of equivalent chunks.
  State canonical(State state) const;

  bool isSum(uint32_t chunk) const { return demand.sourcesOf(chunk).size() > 1; }
  uint32_t targetOf(uint32_t chunk) const { return demand.targetsOf(chunk)[0].rank; }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  State begin;
  std::vector<std::vector<uint32_t>> hops;                     ///< distance between each pair of ranks
  std::vector<std::vector<uint32_t>> boundsOf;                 ///< by link: the bounds that contain the link
  std::vector<std::vector<uint32_t>> chunkClasses;             ///< classes of chunks with the same sources and targets
  std::map<std::tuple<State, uint32_t, uint32_t>, bool> known; ///< by state, remaining steps and remaining rounds
};

} // namespace gc3::synth
