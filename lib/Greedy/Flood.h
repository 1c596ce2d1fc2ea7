// SPDX-License-Identifier: Apache-2.0
// All ranks want all chunks: a link takes any chunk that the other end lacks.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Flood {
public:
  /// If it is stopped here, it is in run(), too.
  Flood(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
        const std::function<bool()> &stops);

  /// One try.
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
  std::vector<uint32_t> order;       ///< links, the slow ones first: they choose before others
  std::vector<uint32_t> groups;      ///< where links of another bandwidth begin in it, and its end
  std::vector<uint32_t> fasterBegin; ///< by link: the ranks from which faster links go where it goes
  std::vector<uint32_t> faster;
  std::vector<uint64_t> now, next; ///< by rank, the chunks that it has before the step, and after it
  std::vector<uint32_t> holders;   ///< by chunk
  uint64_t missing = 0;            ///< chunks on all ranks
};

} // namespace gc3::greedy
