// SPDX-License-Identifier: Apache-2.0
// A method for demands in which all ranks want all chunks, if links divide the ranks into machines. Plans the moves
// between machines as if each machine were one rank, and the moves inside each machine as if there were no other
// machine. Identical machines use the same solution.
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
  /// Returns nothing if links do not form machines of several ranks. `whole` is the topology. `limits` is the same
  /// topology with the bounds that the result must respect. These differ from the bounds of `whole` if `demand` is only
  /// a share of the whole demand. `orbit` has, for each rank, the first of the ranks that act identically to it.
  static std::optional<Compose> find(const topology::Topology &whole, const topology::Topology &limits,
                                     const algorithm::Demand &demand, std::vector<uint32_t> orbit,
                                     uint32_t roundsPerStep);

  /// Makes one try, and stores its algorithm in `found`.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  using Stops = std::function<bool()>;
  /// Links of a machine that bring a chunk from one rank to all other ranks, in the order in which the chunk uses the
  /// links.
  using Tree = std::vector<uint32_t>;
  struct Inside {
    uint32_t machine;                     ///< the first of several identical machines
    std::vector<uint32_t> chunks;         ///< number of trees that start at the rank, by rank of the machine
    std::vector<std::vector<Tree>> trees; ///< trees that start at the rank, by rank of the machine
  };

  Compose(const topology::Topology &limits, const algorithm::Demand &demand, uint32_t roundsPerStep)
      : limits(limits), demand(demand), roundsPerStep(roundsPerStep) {}
  void separate(const topology::Topology &whole);
  bool isConnected() const;
  void findIdenticalMachines();
  void demandBetween();

  void assign(const algorithm::Algorithm &outside);
  std::vector<uint32_t> arrivals(const algorithm::Algorithm &outside) const;
  End solveInside(Inside &problem, Random &random, const Stops &stops) const;
  End solveMachines(const std::vector<uint32_t> &arrivals, Random &random, const Stops &stops);
  Trees compose(const algorithm::Algorithm &outside) const;

  const topology::Topology &limits;
  const algorithm::Demand &demand;
  const uint32_t roundsPerStep;
  // The problem.
  std::vector<uint32_t> orbit, machineOf, placeIn; ///< by rank: first rank of its orbit, its machine, and its number in
                                                   ///< the machine
  std::vector<topology::Part> inside;              ///< by machine
  std::vector<uint32_t> firstIdentical;            ///< by machine: the first machine that is identical to it
  topology::Part between;
  algorithm::Demand betweenDemand; ///< its ranks are machines
  // The solution of this try.
  std::vector<uint32_t> chunkOf; ///< by chunk of betweenDemand: the chunk of `demand`
  std::vector<Inside> solved;
  std::vector<uint32_t> solvedFor; ///< by machine: index into `solved`
};

} // namespace gc3::greedy
