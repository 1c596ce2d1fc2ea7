// SPDX-License-Identifier: Apache-2.0
// All ranks want all chunks, and some links make machines: chunks go from machine to machine as they would if each were
// one rank, and inside of each as they would if it were alone. Machines that are alike do alike.
#pragma once

#include "End.h"
#include "Random.h"
#include "Trees.h"
#include "gc3/Topology/Machines.h"

#include <functional>
#include <optional>

namespace gc3::greedy {

class Compose {
public:
  /// Nothing if no links make machines of several ranks. `whole` is the topology; `limits` is the same with the bounds
  /// that count, others if `demand` is a share of what is done. `orbit` says by rank which of the ranks that do alike
  /// is the first.
  static std::optional<Compose> find(const topology::Topology &whole, const topology::Topology &limits,
                                     const algorithm::Demand &demand, std::vector<uint32_t> orbit,
                                     uint32_t roundsPerStep);

  /// One try.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  using Stops = std::function<bool()>;
  /// Links of a machine's part over which a chunk gets from one rank to all others, those near to it first.
  using Way = std::vector<uint32_t>;
  struct Inside {
    uint32_t machine;                   ///< one of those that are alike
    std::vector<uint32_t> chunks;       ///< by rank of it, how many ways there are to be from it
    std::vector<std::vector<Way>> ways; ///< by rank of it
  };

  Compose(const topology::Topology &limits, const algorithm::Demand &demand, uint32_t roundsPerStep)
      : limits(limits), demand(demand), roundsPerStep(roundsPerStep) {}
  void separate(const topology::Topology &whole);
  bool isConnected() const;
  void findAlike();
  void demandBetween();

  void assign(const algorithm::Algorithm &outside);
  std::vector<uint32_t> arrivals(const algorithm::Algorithm &outside) const;
  End solveInside(Inside &problem, Random &random, const Stops &stops) const;
  End solveMachines(const std::vector<uint32_t> &arrivals, Random &random, const Stops &stops);
  Trees compose(const algorithm::Algorithm &outside) const;

  const topology::Topology &limits;
  const algorithm::Demand &demand;
  const uint32_t roundsPerStep;
  // What there is to solve.
  std::vector<uint32_t> orbit, machineOf, placeIn; ///< by rank
  std::vector<topology::Part> inside;              ///< by machine
  std::vector<uint32_t> like;                      ///< by machine, the first one that is as it is
  topology::Part between;
  algorithm::Demand betweenDemand; ///< of machines
  // What is solved in this try.
  std::vector<uint32_t> chunkOf; ///< the chunk that goes from machine to machine as one of betweenDemand does
  std::vector<Inside> solved;
  std::vector<uint32_t> solvedFor; ///< by machine, which of these
};

} // namespace gc3::greedy
