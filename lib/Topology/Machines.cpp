// SPDX-License-Identifier: Apache-2.0
#include "gc3/Topology/Machines.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <algorithm>
#include <map>

namespace gc3::topology {

std::vector<uint32_t> machinesOf(const Topology &topology) {
  uint32_t fastest = 0;
  for (const Link &link : topology.links)
    fastest = std::max(fastest, link.kind == LinkKind::Network ? 0 : link.bandwidth);
  llvm::EquivalenceClasses<uint32_t> machines;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    machines.insert(rank);
  for (const Link &link : topology.links)
    if (link.bandwidth == fastest && link.kind != LinkKind::Network)
      machines.unionSets(link.from, link.to);
  std::vector<uint32_t> result, number(topology.ranks, UINT32_MAX);
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    uint32_t &machine = number[machines.getLeaderValue(rank)];
    if (machine == UINT32_MAX)
      machine = count++;
    result.push_back(machine);
  }
  return result;
}

Part partOf(const Topology &whole, const BoundsOfLinks &boundsOf, std::vector<uint32_t> links,
            const std::vector<uint32_t> &newRank, uint32_t ranks) {
  Part part;
  part.topology.ranks = ranks;
  std::map<uint32_t, std::vector<uint32_t>> bounds; // by number of the bound in `whole`
  for (uint32_t number : links) {
    for (uint32_t i = boundsOf.begin[number]; i < boundsOf.begin[number + 1]; ++i)
      bounds[boundsOf.bounds[i]].push_back(part.topology.linkCount());
    Link link = whole.links[number];
    link.from = newRank[link.from], link.to = newRank[link.to];
    part.topology.links.push_back(link);
  }
  for (const auto &[bound, ofLinks] : bounds)
    part.topology.addBound(ofLinks, whole.boundBandwidth[bound]);
  part.links = std::move(links);
  return part;
}

} // namespace gc3::topology
