// SPDX-License-Identifier: Apache-2.0
// A method for demands in which some ranks want a chunk. Each chunk travels on shortest ways, the packets with the
// longest way first. The targets of a chunk share the common part of their ways.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Route {
public:
  /// If `stops` returns true here, the object is incomplete, and `stops` must return true in run(), too.
  Route(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
        const std::function<bool()> &stops);

  /// Makes one try.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  /// A chunk on its way to one of its targets; `at` is the rank nearest to the target that has got the chunk.
  struct Packet {
    uint32_t chunk, target, at;
    uint32_t since; ///< the step in which it arrived there; it leaves in a later step
  };

  uint32_t distance(uint32_t from, uint32_t to) const {
    return distances[static_cast<size_t>(to) * topology.ranks + from];
  }
  /// Returns false if `stops` returned true.
  bool start(Random &random, const std::function<bool()> &stops);
  void offer(uint32_t packet, Random &random);
  bool next(uint32_t link, uint32_t step, uint32_t &packet);
  void send(uint32_t chunk, uint32_t to, uint32_t step);
  void addStep(uint32_t step, Random &random, algorithm::Algorithm &found);

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  const uint32_t roundsPerStep;
  Capacity capacity;
  topology::LinksOfRanks outgoing;
  std::vector<uint16_t> distances; ///< hops, by target rank, then by source rank
  std::vector<uint32_t> order;     ///< links, in random order
  std::vector<Packet> packets;     ///< those of chunk c begin at packetBegin[c], in the order of its targets
  std::vector<uint32_t> packetBegin;
  std::vector<std::vector<uint64_t>> offers; ///< by link: a heap of (distance, random number, packet)
  std::vector<uint32_t> moved;               ///< packets that moved in this step
  uint64_t underWay = 0;
};

} // namespace gc3::greedy
