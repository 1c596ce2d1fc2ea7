// SPDX-License-Identifier: Apache-2.0
// Chunks that go along given trees: links take, of what can go over them, the one with the longest way behind it.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Trees {
public:
  /// `sources`: by chunk.
  Trees(const topology::Topology &topology, std::vector<uint32_t> sources, uint32_t roundsPerStep);

  /// A link of the chunk's tree, whose beginning is the source or the end of a link that was added before.
  void add(uint32_t chunk, uint32_t link) { edges.push_back({chunk, link, 0}); }

  /// Sends each chunk along all of its tree; once.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  struct Edge {
    uint32_t chunk, link;
    uint32_t hops; ///< from its beginning to the farthest end behind it
  };

  uint32_t fromOf(const Edge &edge) const { return topology.links[edge.link].from; }
  void measure();
  void offer(uint32_t chunk, uint32_t rank, uint32_t step, Random &random);
  void addStep(uint32_t step, Random &random, algorithm::Algorithm &found);

  const topology::Topology &topology;
  const std::vector<uint32_t> sources;
  const uint32_t roundsPerStep;
  Capacity capacity;
  std::vector<uint32_t> order;               ///< links
  std::vector<Edge> edges;                   ///< those of chunk c from edgeBegin[c] on, by the rank where they begin
  std::vector<uint32_t> edgeBegin;           ///< by chunk
  std::vector<std::vector<uint64_t>> offers; ///< by link, a heap: hops, how early, a random number, edge
  std::vector<uint32_t> arrived;             ///< in this step, edges
  size_t left = 0;                           ///< edges
};

} // namespace gc3::greedy
