// SPDX-License-Identifier: Apache-2.0
#include "Capacity.h"
#include <algorithm>

namespace gc3::greedy {

Capacity::Capacity(const topology::Topology &topology, uint32_t roundsPerStep)
    : links(topology.linkCount()), boundsOf(boundsOfLinks(topology)) {
  auto limit = [&](uint32_t bandwidth) {
    limits.push_back(static_cast<uint32_t>(std::min<uint64_t>(uint64_t{bandwidth} * roundsPerStep, UINT32_MAX)));
  };
  for (const topology::Link &link : topology.links)
    limit(link.bandwidth);
  for (uint32_t bandwidth : topology.boundBandwidth)
    limit(bandwidth);
}

void Capacity::begin() {
  left = limits;
}

/// Returns true if the link and all its bounds have capacity for another chunk. A bound that lists the link twice needs
/// capacity for two chunks.
bool Capacity::allows(uint32_t link) const {
  if (left[link] == 0)
    return false;
  const std::vector<uint32_t> &bounds = boundsOf.bounds;
  for (uint32_t i = boundsOf.begin[link], same = 0; i < boundsOf.begin[link + 1]; ++i) {
    same = i > boundsOf.begin[link] && bounds[i] == bounds[i - 1] ? same + 1 : 0; // equal bounds are adjacent
    if (left[links + bounds[i]] <= same)
      return false;
  }
  return true;
}

void Capacity::take(uint32_t link) {
  --left[link];
  for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i)
    --left[links + boundsOf.bounds[i]];
}

} // namespace gc3::greedy
