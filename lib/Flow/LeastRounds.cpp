// SPDX-License-Identifier: Apache-2.0
// Each rank that wants chunks is the root of a Gather. A minimum cut of its time-expanded network considers all sets of
// ranks and the time of the way, which the bounds of lib/Algorithm do not.
#include "Layers.h"
#include "Rounds.h"
#include "gc3/Flow/Flow.h"
#include "gc3/Topology/Lattice.h"
#include <algorithm>

namespace gc3::flow {

namespace {

/// By rank that wants chunks: the number of chunks from each source.
std::vector<std::vector<uint32_t>> suppliesOf(const algorithm::Demand &demand) {
  std::vector<std::vector<uint32_t>> supplies(demand.ranks, std::vector<uint32_t>(demand.ranks, 0));
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const uint32_t source = demand.sourcesOf(chunk)[0].rank;
    uint32_t last = source; // targets are in the order of their ranks
    for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
      if (target.rank != source && target.rank != last)
        ++supplies[last = target.rank][source];
  }
  return supplies;
}

/// Returns the ranks in the order in which the bound examines them. If all points of the lattice are equal, the first
/// point stands for all.
std::vector<uint32_t> rootsOf(const topology::Topology &topology, const std::vector<std::vector<uint32_t>> &supplies) {
  const bool isSymmetric = linkClasses(topology).has_value();
  std::vector<uint64_t> bandwidth(topology.ranks, 0);
  for (const topology::Link &link : topology.links)
    bandwidth[link.to] += link.bandwidth;
  std::vector<std::pair<double, uint32_t>> order;
  for (uint32_t rank = 0; rank < (isSymmetric ? topology::Lattice(topology).cell() : topology.ranks); ++rank) {
    uint64_t wanted = 0;
    for (uint32_t chunks : supplies[rank])
      wanted += chunks;
    if (wanted != 0)
      order.emplace_back(-static_cast<double>(wanted) / static_cast<double>(bandwidth[rank]), rank);
  }
  std::sort(order.begin(), order.end());
  std::vector<uint32_t> roots;
  for (const auto &[time, rank] : order)
    roots.push_back(rank);
  return roots;
}

/// Returns the chunks that the fastest rank sends in a round. A bound that covers all links of a rank limits the rank.
uint64_t mostOfRank(const topology::Topology &topology) {
  const topology::LinksOfRanks outgoing = linksFrom(topology);
  std::vector<uint64_t> most(topology.ranks, 0);
  for (const topology::Link &link : topology.links)
    most[link.from] += link.bandwidth;
  std::vector<uint32_t> covered(topology.ranks, 0); // by rank: links under the bound
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
    std::fill(covered.begin(), covered.end(), 0);
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i) {
      const uint32_t rank = topology.links[topology.boundLinks[i]].from;
      if (++covered[rank] == outgoing.begin[rank + 1] - outgoing.begin[rank])
        most[rank] = std::min<uint64_t>(most[rank], topology.boundBandwidth[bound]);
    }
  }
  return *std::max_element(most.begin(), most.end());
}

/// Returns the rounds after which a chunk can have enough copies, if each rank with a copy sends as many as the fastest
/// rank does.
uint64_t roundsToMultiply(const topology::Topology &topology, const algorithm::Demand &demand) {
  uint64_t wanted = 1; // copies of a chunk, with the one at its source
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    uint64_t copies = 1;
    uint32_t last = demand.sourcesOf(chunk)[0].rank;
    for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
      if (target.rank != last && target.rank != demand.sourcesOf(chunk)[0].rank)
        ++copies, last = target.rank;
    wanted = std::max(wanted, copies);
  }
  const uint64_t most = mostOfRank(topology);
  uint64_t rounds = 0;
  for (uint64_t copies = 1; copies < wanted; copies += copies * most)
    ++rounds;
  return rounds;
}

} // namespace

uint64_t leastRounds(const topology::Topology &topology, const algorithm::Demand &demand, uint64_t from,
                     const std::function<bool()> &stops) {
  constexpr uint64_t mostWork = 10'000'000; // arcs and visits of all networks together, some seconds
  constexpr uint32_t mostRanks = 2048;      // the table of chunks grows with the square
  uint64_t least = std::max({from, uint64_t{1}, roundsToMultiply(topology, demand)}), work = 0;
  if (demand.ranks > mostRanks)
    return least;
  const std::vector<std::vector<uint32_t>> supplies = suppliesOf(demand);
  std::optional<Layers> layers; // of the current root
  const std::function<bool()> isOver = [&] {
    return work + (layers ? layers->work() : 0) > mostWork || (stops && stops());
  };
  for (uint32_t root : rootsOf(topology, supplies)) {
    const std::optional<StepGraph> graph = makeStepGraph(topology, root);
    if (!graph || isOver())
      return least;
    layers.emplace(*graph, supplies[root], isOver);
    // Few steps make a small network. If they suffice, single rounds do, too.
    const auto all = static_cast<uint32_t>(least);
    const uint32_t steps = std::min(all, 2 * *std::max_element(graph->hops.begin(), graph->hops.end()));
    if (steps == 0 || !layers->attempt(Rounds(steps, all, layers->chunks()).growing(1)).loads)
      while (graph->arcs.size() * least <= mostWork && layers->attempt(std::vector<uint32_t>(least, 1)).cut)
        ++least;
    work += layers->work();
    layers.reset();
  }
  return least;
}

} // namespace gc3::flow
