// SPDX-License-Identifier: Apache-2.0
// Whether there is an algorithm of so many steps and rounds, by trying all that can be sent in each step. It shares
// nothing with the encoding: no bounds, no distances but its own, no solver.
#pragma once

#include "gc3/Algorithm/Demand.h"
#include "gc3/Topology/Topology.h"
#include <map>
#include <set>

namespace gc3::synth {

/// For up to four ranks. A chunk is either copied from its one source, or it is a sum of what all ranks have, for one
/// rank; then what is sent moves, as it counts once.
class BruteForce {
public:
  BruteForce(const topology::Topology &topology, const algorithm::Demand &demand);

  /// Of at least one step, and at least one round for each.
  bool isPossible(uint32_t steps, uint32_t rounds) { return reaches(begin, steps, rounds); }

private:
  /// By chunk: of a copied one the set of ranks that have it; of a sum, two bits for each rank, where what it
  /// contributes is.
  using State = std::vector<uint32_t>;
  /// A step under way: what is there at its end so far, and what is left of each bound.
  using Partial = std::pair<State, std::vector<int64_t>>;

  bool reaches(const State &now, uint32_t steps, uint32_t rounds);
  std::set<State> after(const State &now, uint32_t steps, uint32_t rounds) const;
  void sendOver(uint32_t link, uint32_t room, uint32_t firstChunk, uint32_t steps, const State &now,
                const Partial &partial, std::set<Partial> &out) const;
  bool canSend(uint32_t chunk, uint32_t link, uint32_t steps, const State &now, const State &next) const;
  void send(uint32_t chunk, uint32_t link, State &next) const;
  /// Of what the chunk is not yet where it is wanted, the most hops that are left, by the best ways; 0 if it is there.
  uint32_t hopsLeft(uint32_t chunk, const State &state) const;
  uint32_t hopsLeft(const State &state) const;
  /// Of all states that differ only in which of chunks that are alike is which.
  State canonical(State state) const;

  bool isSum(uint32_t chunk) const { return demand.sourcesOf(chunk).size() > 1; }
  uint32_t targetOf(uint32_t chunk) const { return demand.targetsOf(chunk)[0].rank; }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  State begin;
  std::vector<std::vector<uint32_t>> hops;                     ///< from a rank to a rank
  std::vector<std::vector<uint32_t>> boundsOf;                 ///< by link
  std::vector<std::vector<uint32_t>> alike;                    ///< chunks with the same sources and targets
  std::map<std::tuple<State, uint32_t, uint32_t>, bool> known; ///< by state, steps and rounds left
};

} // namespace gc3::synth
