// SPDX-License-Identifier: Apache-2.0
// Sends chunks along given trees. If several chunks can use a link, sends the chunk with the longest remaining path.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Trees {
public:
  /// `sources` has the source rank of each chunk.
  Trees(const topology::Topology &topology, std::vector<uint32_t> sources, uint32_t roundsPerStep);

  /// Adds a link to the chunk's tree. The link must begin at the source or at the end of a link that was added before.
  /// `length` is the length of the link for the order of chunks.
  void add(uint32_t chunk, uint32_t link, uint32_t length = 1) { edges.push_back({chunk, link, length}); }

  /// Sends each chunk along its whole tree. Must be called only once.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  struct Edge {
    uint32_t chunk, link;
    uint32_t hops; ///< length of the edge; after measure(): from its start to the farthest leaf
  };

  uint32_t fromOf(const Edge &edge) const { return topology.links[edge.link].from; }
  void measure();
  void offer(uint32_t chunk, uint32_t rank, uint32_t step, Random &random);
  void addStep(uint32_t step, Random &random, algorithm::Algorithm &found);

  const topology::Topology &topology;
  const std::vector<uint32_t> sources;
  const uint32_t roundsPerStep;
  Capacity capacity;
  std::vector<uint32_t> order;     ///< links, in random order
  std::vector<Edge> edges;         ///< edges of chunk c: from edgeBegin[c] on; sorted by chunk, then by source rank
  std::vector<uint32_t> edgeBegin; ///< by chunk
  std::vector<std::vector<uint64_t>> offers; ///< by link: a heap of (hops, earliness, random number, edge)
  std::vector<uint32_t> arrived;             ///< edges that were used in this step
  size_t left = 0;                           ///< number of edges that are still unused
};

} // namespace gc3::greedy
