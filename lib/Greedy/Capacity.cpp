// SPDX-License-Identifier: Apache-2.0
#include "Capacity.h"
#include <algorithm>

namespace gc3::greedy {

/// As often as a link may be under bounds, all of them have room for it: a bound that names it twice counts it twice.
Capacity::Capacity(const topology::Topology &topology, uint32_t roundsPerStep) {
  const uint32_t links = topology.linkCount();
  auto limit = [&](uint32_t bandwidth) {
    limits.push_back(static_cast<uint32_t>(std::min<uint64_t>(uint64_t{bandwidth} * roundsPerStep, UINT32_MAX)));
  };
  for (const topology::Link &link : topology.links)
    limit(link.bandwidth);
  for (uint32_t bandwidth : topology.boundBandwidth)
    limit(bandwidth);
  boundsBegin.assign(links + 1, 0);
  for (uint32_t link : topology.boundLinks)
    ++boundsBegin[link + 1];
  for (uint32_t link = 0; link < links; ++link)
    boundsBegin[link + 1] += boundsBegin[link];
  bounds.resize(topology.boundLinks.size());
  std::vector<uint32_t> next(boundsBegin.begin(), boundsBegin.end() - 1);
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
      bounds[next[topology.boundLinks[i]]++] = links + bound;
}

void Capacity::begin() {
  left = limits;
}

bool Capacity::allows(uint32_t link) const {
  if (left[link] == 0)
    return false;
  for (uint32_t i = boundsBegin[link], same = 0; i < boundsBegin[link + 1]; ++i) {
    same = i > boundsBegin[link] && bounds[i] == bounds[i - 1] ? same + 1 : 0; // they lie in a row
    if (left[bounds[i]] <= same)
      return false;
  }
  return true;
}

void Capacity::take(uint32_t link) {
  --left[link];
  for (uint32_t i = boundsBegin[link]; i < boundsBegin[link + 1]; ++i)
    --left[bounds[i]];
}

} // namespace gc3::greedy
