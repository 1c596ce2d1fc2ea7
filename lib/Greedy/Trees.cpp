// SPDX-License-Identifier: Apache-2.0
#include "Trees.h"
#include <algorithm>
#include <numeric>
#include <utility>

namespace gc3::greedy {

using algorithm::Algorithm;

Trees::Trees(const topology::Topology &topology, std::vector<uint32_t> sources, uint32_t roundsPerStep)
    : topology(topology), sources(std::move(sources)), roundsPerStep(roundsPerStep), capacity(topology, roundsPerStep),
      order(topology.linkCount()), offers(topology.linkCount()) {
  std::iota(order.begin(), order.end(), 0);
}

/// Sorts edges by chunk and source rank. For each edge, computes the number of hops from its start to the farthest
/// leaf.
void Trees::measure() {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) { return a.chunk < b.chunk; });
  std::vector<uint32_t> hops(topology.ranks, 0); // by rank: hops to the farthest leaf
  edgeBegin.assign(1, 0);
  for (uint32_t chunk = 0; chunk < sources.size(); ++chunk) {
    const uint32_t begin = edgeBegin.back();
    uint32_t end = begin;
    for (; end < edges.size() && edges[end].chunk == chunk; ++end)
      hops[fromOf(edges[end])] = hops[topology.links[edges[end].link].to] = 0;
    for (uint32_t i = end; i-- > begin;) {
      edges[i].hops += hops[topology.links[edges[i].link].to];
      hops[fromOf(edges[i])] = std::max(hops[fromOf(edges[i])], edges[i].hops);
    }
    std::stable_sort(edges.begin() + begin, edges.begin() + end,
                     [&](const Edge &a, const Edge &b) { return fromOf(a) < fromOf(b); });
    edgeBegin.push_back(end);
  }
}

/// Offers to the links all edges of the chunk's tree that start on the rank. The rank has the chunk from `step` on.
void Trees::offer(uint32_t chunk, uint32_t rank, uint32_t step, Random &random) {
  const auto end = edges.begin() + edgeBegin[chunk + 1];
  auto edge = std::lower_bound(edges.begin() + edgeBegin[chunk], end, rank,
                               [&](const Edge &a, uint32_t from) { return fromOf(a) < from; });
  for (; edge != end && fromOf(*edge) == rank; ++edge) {
    auto &heap = offers[edge->link];
    const uint64_t hops = std::min(edge->hops, 0xfffu), early = 0x3fff - std::min(step, 0x3fffu);
    heap.push_back(hops << 52 | early << 38 | uint64_t{random.below(1 << 6)} << 32 |
                   static_cast<uint64_t>(edge - edges.begin()));
    std::push_heap(heap.begin(), heap.end());
  }
}

void Trees::addStep(uint32_t step, Random &random, Algorithm &found) {
  capacity.begin();
  random.shuffle(order.data(), static_cast<uint32_t>(order.size()));
  arrived.clear();
  for (uint32_t link : order)
    for (auto &heap = offers[link]; !heap.empty() && capacity.allows(link);) {
      const auto edge = static_cast<uint32_t>(heap.front());
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
      capacity.take(link);
      found.sends.push_back({edges[edge].chunk, link});
      arrived.push_back(edge);
    }
  for (uint32_t edge : arrived)
    offer(edges[edge].chunk, topology.links[edges[edge].link].to, step + 1, random);
  left -= arrived.size();
  found.endStep(roundsPerStep);
}

End Trees::run(Random &random, const std::function<bool()> &stops, Algorithm &found) {
  measure();
  left = edges.size();
  for (uint32_t chunk = 0; chunk < sources.size(); ++chunk)
    offer(chunk, sources[chunk], 0, random);
  for (uint32_t step = 0; left != 0; ++step) {
    addStep(step, random, found);
    if (arrived.empty())
      return End::Stuck;
    if (stops && stops())
      return End::Stopped;
  }
  return End::Found;
}

} // namespace gc3::greedy
