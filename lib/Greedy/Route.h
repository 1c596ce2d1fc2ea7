// SPDX-License-Identifier: Apache-2.0
// Chunks that some ranks want: each goes there on shortest ways, those with the longest way first. Targets share what
// their ways have in common.
#pragma once

#include "Capacity.h"
#include "End.h"
#include "Random.h"
#include "gc3/Algorithm/Algorithm.h"

#include <functional>

namespace gc3::greedy {

class Route {
public:
  /// If it is stopped here, it is in run(), too.
  Route(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
        const std::function<bool()> &stops);

  /// One try.
  End run(Random &random, const std::function<bool()> &stops, algorithm::Algorithm &found);

private:
  /// A chunk on its way to one of its targets: at a rank that has it and is nearest to the target.
  struct Packet {
    uint32_t chunk, target, at;
    uint32_t since; ///< the step in which it came there; it leaves in a later one
  };

  uint32_t distance(uint32_t from, uint32_t to) const {
    return distances[static_cast<size_t>(to) * topology.ranks + from];
  }
  /// False if it was stopped.
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
  std::vector<uint16_t> distances; ///< to each rank, from all
  std::vector<uint32_t> order;     ///< links
  std::vector<Packet> packets;     ///< those of chunk c in the order of its targets, from packetBegin[c] on
  std::vector<uint32_t> packetBegin;
  std::vector<std::vector<uint64_t>> offers; ///< by link, a heap: distance, a random number, packet
  std::vector<uint32_t> moved;               ///< in this step
  uint64_t underWay = 0;
};

} // namespace gc3::greedy
