// SPDX-License-Identifier: Apache-2.0
// A method for demands in which all ranks want all chunks: a link sends any chunk that its target rank lacks.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Flood {
public:
  /// If `stops` returns true in the constructor, the object is incomplete. Then `stops` must also return true in run().
  Flood(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
        const std::function<bool()> &stops);

  /// Makes one try, and stores its algorithm in `found`.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  static constexpr uint32_t None = UINT32_MAX;

  void start();
  void addStep(Random &random, algorithm::Algorithm &found);
  uint32_t pick(uint32_t link, Random &random) const;
  uint64_t useful(uint32_t link, uint32_t word) const;
  uint64_t &wordOf(std::vector<uint64_t> &sets, uint32_t rank, uint32_t chunk) const {
    return sets[static_cast<size_t>(rank) * words + chunk / 64];
  }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  const uint32_t roundsPerStep, words;
  Capacity capacity;
  std::vector<uint32_t> order;       ///< links; slow links come first, so that they choose their chunks first
  std::vector<uint32_t> groups;      ///< indices in `order` at which the bandwidth changes, then the size of `order`
  std::vector<uint32_t> fasterBegin; ///< by link: where its entries in `faster` begin
  std::vector<uint32_t> faster;
  std::vector<uint64_t> now, next; ///< by rank: bit sets of chunks before and after the step
  std::vector<uint32_t> holders;   ///< by chunk: number of ranks that have it
  uint64_t missing = 0;            ///< number of missing chunks, summed over ranks
};

} // namespace gc3::greedy
