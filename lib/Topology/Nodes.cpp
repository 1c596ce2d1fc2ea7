// SPDX-License-Identifier: Apache-2.0
// Merges the nodes of the ranks that a link or a switch joins, as disjoint sets whose roots are the lowest ranks.
#include "gc3/Topology/Nodes.h"

#include <algorithm>
#include <numeric>

namespace gc3::topology {

namespace {

class Nodes {
public:
  explicit Nodes(uint32_t ranks) : parents(ranks) { std::iota(parents.begin(), parents.end(), 0U); }
  uint32_t lowest(uint32_t rank) {
    while (parents[rank] != rank)
      rank = parents[rank] = parents[parents[rank]];
    return rank;
  }
  void join(uint32_t a, uint32_t b) {
    const auto [low, high] = std::minmax({lowest(a), lowest(b)});
    parents[high] = low;
  }

private:
  std::vector<uint32_t> parents; ///< by rank; a root is its own
};

} // namespace

std::vector<uint64_t> nodesOf(const Topology &topology) {
  Nodes nodes(topology.ranks);
  for (const Link &link : topology.links)
    if (link.kind != LinkKind::Network)
      nodes.join(link.from, link.to);
  for (const Switch &each : topology.switches)
    for (const uint32_t rank : each.portRanks)
      if (each.kind != LinkKind::Network)
        nodes.join(each.portRanks.front(), rank);
  std::vector<uint64_t> nodeOfRank;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    nodeOfRank.push_back(nodes.lowest(rank));
  return nodeOfRank;
}

} // namespace gc3::topology
