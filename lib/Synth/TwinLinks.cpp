// SPDX-License-Identifier: Apache-2.0
// Maps the reversed topology to the topology, if each link has a link with equal properties in the opposite direction.
#include "gc3/Synth/Synthesis.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace gc3::synth {

std::optional<std::vector<uint32_t>> twinLinks(const topology::Topology &topology) {
  topology::Topology back = topology::reversed(topology);
  std::vector<uint32_t> twins(topology.links.size());
  auto key = [](const topology::Link &link) {
    return std::tuple(link.from, link.to, link.kind, link.bandwidth, link.alpha, link.beta);
  };
  std::vector<uint32_t> forward(twins.size()), backward(twins.size());
  for (uint32_t i = 0; i < twins.size(); ++i)
    forward[i] = backward[i] = i;
  llvm::stable_sort(forward, [&](uint32_t a, uint32_t b) { return key(topology.links[a]) < key(topology.links[b]); });
  llvm::stable_sort(backward, [&](uint32_t a, uint32_t b) { return key(back.links[a]) < key(back.links[b]); });
  for (size_t i = 0; i < twins.size(); ++i) {
    if (key(topology.links[forward[i]]) != key(back.links[backward[i]]))
      return {};
    twins[forward[i]] = backward[i];
  }
  // The map must preserve bounds as well.
  auto boundsOf = [&](bool mapped) {
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> result;
    for (uint32_t bound = 0; bound < topology.boundCount(); ++bound) {
      std::vector<uint32_t> links(topology.boundLinks.begin() + topology.boundBegin[bound],
                                  topology.boundLinks.begin() + topology.boundBegin[bound + 1]);
      for (uint32_t &link : links)
        link = mapped ? twins[link] : link;
      llvm::sort(links);
      result.emplace_back(topology.boundBandwidth[bound], links);
    }
    llvm::sort(result);
    return result;
  };
  if (boundsOf(false) != boundsOf(true))
    return {};
  return twins;
}

} // namespace gc3::synth
