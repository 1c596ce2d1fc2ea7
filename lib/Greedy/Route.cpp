// SPDX-License-Identifier: Apache-2.0
#include "Route.h"
#include "gc3/Support/StopCheck.h"
#include <algorithm>
#include <numeric>

namespace gc3::greedy {

using algorithm::Algorithm;
using algorithm::BufferChunk;

Route::Route(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
             const std::function<bool()> &stops)
    : topology(topology), demand(demand), roundsPerStep(roundsPerStep), capacity(topology, roundsPerStep),
      outgoing(linksFrom(topology)), order(topology.linkCount()), offers(topology.linkCount()) {
  std::iota(order.begin(), order.end(), 0);
  const topology::Topology backwards = reversed(topology);
  const topology::LinksOfRanks incoming = linksFrom(backwards);
  distances.reserve(static_cast<size_t>(topology.ranks) * topology.ranks);
  StopCheck stop(stops);
  for (uint32_t to = 0; to < topology.ranks && !stop.addWork(topology.links.size()); ++to)
    for (uint32_t hops : distancesFrom(backwards, incoming, to))
      distances.push_back(static_cast<uint16_t>(hops));
}

bool Route::start(Random &random, const std::function<bool()> &stops) {
  constexpr uint64_t workOfPacket = 16; // in units of StopCheck, because updates of the heaps are slow
  if (stops && stops())
    return false;
  StopCheck stop(stops);
  packets.clear();
  packetBegin.assign(1, 0);
  underWay = 0;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const uint32_t source = demand.sourcesOf(chunk)[0].rank;
    for (const BufferChunk &target : demand.targetsOf(chunk))
      if (target.rank != source)
        packets.push_back({chunk, target.rank, source, UINT32_MAX});
    packetBegin.push_back(static_cast<uint32_t>(packets.size()));
  }
  underWay = packets.size();
  for (auto &heap : offers)
    heap.clear();
  for (uint32_t packet = 0; packet < packets.size() && !stop.addWork(workOfPacket); ++packet)
    offer(packet, random);
  return !stop.addWork(0);
}

/// Offers the packet to all links that bring it closer to its target.
void Route::offer(uint32_t number, Random &random) {
  const Packet &packet = packets[number];
  const uint32_t hops = distance(packet.at, packet.target);
  for (uint32_t i = outgoing.begin[packet.at]; i < outgoing.begin[packet.at + 1]; ++i) {
    const uint32_t link = outgoing.links[i];
    if (distance(topology.links[link].to, packet.target) >= hops)
      continue;
    offers[link].push_back(uint64_t{hops} << 48 | uint64_t{random.below(1 << 16)} << 32 | number);
    std::push_heap(offers[link].begin(), offers[link].end());
  }
}

/// Finds the packet with the longest remaining path that the link can send in this step. Returns false if there is
/// none.
bool Route::next(uint32_t link, uint32_t step, uint32_t &number) {
  auto &heap = offers[link];
  while (!heap.empty()) {
    number = static_cast<uint32_t>(heap.front());
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    const Packet &packet = packets[number];
    if (packet.at == topology.links[link].from && packet.since != step)
      return true; // otherwise the packet has moved since this offer
  }
  return false;
}

/// Sends the chunk to rank `to`. Moves each packet of the chunk to this rank if the rank is closer to the packet's
/// target.
void Route::send(uint32_t chunk, uint32_t to, uint32_t step) {
  for (uint32_t i = packetBegin[chunk]; i < packetBegin[chunk + 1]; ++i) {
    Packet &packet = packets[i];
    if (distance(to, packet.target) >= distance(packet.at, packet.target))
      continue;
    packet.at = to;
    packet.since = step;
    if (to == packet.target)
      --underWay;
    else
      moved.push_back(i);
  }
}

void Route::addStep(uint32_t step, Random &random, Algorithm &found) {
  capacity.begin();
  random.shuffle(order.data(), static_cast<uint32_t>(order.size()));
  moved.clear();
  for (uint32_t link : order)
    for (uint32_t packet = 0; capacity.allows(link) && next(link, step, packet);) {
      capacity.take(link);
      found.sends.push_back({packets[packet].chunk, link});
      send(packets[packet].chunk, topology.links[link].to, step);
    }
  for (uint32_t packet : moved)
    if (packets[packet].at != packets[packet].target)
      offer(packet, random);
  found.endStep(roundsPerStep);
}

End Route::run(Random &random, const std::function<bool()> &stops, Algorithm &found) {
  if (!start(random, stops))
    return End::Stopped;
  for (uint32_t step = 0; underWay != 0; ++step) {
    const size_t before = found.sends.size();
    addStep(step, random, found);
    if (found.sends.size() == before)
      return End::Stuck;
    if (stops && stops())
      return End::Stopped;
  }
  return End::Found;
}

} // namespace gc3::greedy
