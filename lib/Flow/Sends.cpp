// SPDX-License-Identifier: Apache-2.0
// Moves chunks along the arcs of each step, in the order of the arcs, so that the chunks of a node are known before
// they leave it. Any of the node's chunks can take an arc, because all chunks go to the root.
#include "Sends.h"
#include <algorithm>
#include <utility>

namespace gc3::flow {

namespace {

struct Hop {
  uint32_t step, link;
};

class Paths {
public:
  Paths(const StepGraph &graph, const topology::Topology &topology, const std::vector<uint32_t> &sourceOf)
      : graph(graph), topology(topology), rankOf(sourceOf), chunksOn(graph.nodes), hops(sourceOf.size()) {
    for (uint32_t chunk = static_cast<uint32_t>(sourceOf.size()); chunk-- > 0;)
      chunksOn[sourceOf[chunk]].push_back(chunk);
  }

  void addStep(uint32_t step, const std::vector<Load> &loads) {
    for (const Load &load : loads) {
      const StepArc &arc = graph.arcs[load.arc];
      for (uint32_t i = 0; i < load.chunks; ++i) {
        const uint32_t chunk = chunksOn[arc.from].back();
        chunksOn[arc.from].pop_back();
        chunksOn[arc.to].push_back(chunk);
        const uint32_t link = arc.leavesHub ? linkThroughHub(load.arc, rankOf[chunk]) : arc.link;
        if (link == None)
          continue;
        hops[chunk].push_back({step, link});
        rankOf[chunk] = topology.links[link].to;
      }
    }
    for (uint32_t rank = 0; rank < graph.ranks; ++rank) {
      std::vector<uint32_t> &arrived = chunksOn[graph.ranks + rank];
      chunksOn[rank].insert(chunksOn[rank].end(), arrived.begin(), arrived.end());
      arrived.clear();
    }
  }

  /// Returns, by step, the sends that are not part of a loop.
  std::vector<std::vector<algorithm::Send>> sends(size_t steps) const {
    std::vector<std::vector<algorithm::Send>> result(steps);
    std::vector<uint32_t> leftBy(graph.ranks, None); // by rank: the number of the chunk's last hop that leaves the rank
    for (uint32_t chunk = 0; chunk < hops.size(); ++chunk) {
      const std::vector<Hop> &own = hops[chunk];
      for (uint32_t i = 0; i < own.size(); ++i)
        leftBy[topology.links[own[i].link].from] = i;
      for (uint32_t i = 0; i < own.size(); ++i) {
        i = leftBy[topology.links[own[i].link].from]; // skips a loop
        result[own[i].step].push_back({chunk, own[i].link});
      }
    }
    return result;
  }

private:
  /// Returns None if the chunk enters and leaves the hub on one rank.
  uint32_t linkThroughHub(uint32_t arc, uint32_t from) const {
    const auto found = std::lower_bound(graph.hubLinks.begin(), graph.hubLinks.end(), std::pair(arc, from),
                                        [](const HubLink &link, const std::pair<uint32_t, uint32_t> &wanted) {
                                          return std::pair(link.arc, link.from) < wanted;
                                        });
    return found != graph.hubLinks.end() && found->arc == arc && found->from == from ? found->link : None;
  }

  const StepGraph &graph;
  const topology::Topology &topology;
  std::vector<uint32_t> rankOf;                ///< by chunk: the rank that has it
  std::vector<std::vector<uint32_t>> chunksOn; ///< by node of the step's graph
  std::vector<std::vector<Hop>> hops;          ///< by chunk
};

} // namespace

algorithm::Algorithm sendsOf(const StepGraph &graph, const topology::Topology &topology,
                             const std::vector<uint32_t> &sourceOf, const std::vector<uint32_t> &rounds,
                             const std::vector<std::vector<Load>> &loads) {
  Paths paths(graph, topology, sourceOf);
  for (uint32_t step = 0; step < rounds.size(); ++step)
    paths.addStep(step, loads[step]);
  algorithm::Algorithm result;
  const std::vector<std::vector<algorithm::Send>> sends = paths.sends(rounds.size());
  for (uint32_t step = 0; step < rounds.size(); ++step) {
    result.sends.insert(result.sends.end(), sends[step].begin(), sends[step].end());
    result.endStep(rounds[step]);
  }
  return result;
}

} // namespace gc3::flow
