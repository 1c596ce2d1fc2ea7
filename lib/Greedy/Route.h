// SPDX-License-Identifier: Apache-2.0
// A method for demands in which not all ranks want a chunk. Sends each chunk on shortest paths; a packet with a longer
// remaining path goes first. The paths of one chunk to several targets share their common part.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Route {
public:
  /// If `stops` returns true in the constructor, the object is incomplete. Then `stops` must also return true in run().
  Route(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
        const std::function<bool()> &stops);

  /// Makes one try, and stores its algorithm in `found`.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  /// The delivery of a chunk to one of its targets. `at` is the rank that has the chunk and is closest to the target.
  struct Packet {
    uint32_t chunk, target, at;
    uint32_t since; ///< the step in which the chunk arrived on rank `at`; the chunk can leave only in a later step
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
  std::vector<uint16_t> distances; ///< number of hops, by target rank, then by source rank
  std::vector<uint32_t> order;     ///< links, in random order
  std::vector<Packet> packets;     ///< packets of chunk c: from packetBegin[c] on, in the order of its targets
  std::vector<uint32_t> packetBegin;
  std::vector<std::vector<uint64_t>> offers; ///< by link: a heap of (distance, random number, packet)
  std::vector<uint32_t> moved;               ///< packets that moved in this step
  uint64_t underWay = 0;
};

} // namespace gc3::greedy
