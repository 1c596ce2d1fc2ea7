// SPDX-License-Identifier: Apache-2.0
#include "Flood.h"
#include "gc3/Support/StopCheck.h"
#include <algorithm>
#include <bit>
#include <numeric>

namespace gc3::greedy {

using algorithm::Algorithm;
using topology::Link;

Flood::Flood(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t roundsPerStep,
             const std::function<bool()> &stops)
    : topology(topology), demand(demand), roundsPerStep(roundsPerStep), words((demand.chunks() + 63) / 64),
      capacity(topology, roundsPerStep), order(topology.linkCount()) {
  std::iota(order.begin(), order.end(), 0);
  auto bandwidth = [&](uint32_t link) { return topology.links[link].bandwidth; };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return bandwidth(a) < bandwidth(b); });
  for (uint32_t i = 1; i <= order.size(); ++i)
    if (i == order.size() || bandwidth(order[i]) != bandwidth(order[i - 1]))
      groups.push_back(i);
  const topology::LinksOfRanks incoming = linksTo(topology);
  fasterBegin.push_back(0);
  StopCheck stop(stops);
  for (const Link &link : topology.links) {
    if (stop.addWork(incoming.begin[link.to + 1] - incoming.begin[link.to]))
      return;
    for (uint32_t i = incoming.begin[link.to]; groups.size() > 1 && i < incoming.begin[link.to + 1]; ++i)
      if (const Link &other = topology.links[incoming.links[i]]; other.bandwidth > link.bandwidth)
        faster.push_back(other.from);
    fasterBegin.push_back(static_cast<uint32_t>(faster.size()));
  }
}

void Flood::start() {
  now.assign(static_cast<size_t>(topology.ranks) * words, 0);
  holders.assign(demand.chunks(), 1);
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    wordOf(now, demand.sourcesOf(chunk)[0].rank, chunk) |= uint64_t{1} << chunk % 64;
  next = now;
  missing = static_cast<uint64_t>(demand.chunks()) * (topology.ranks - 1);
}

/// Returns the chunks that the link can send, that its target rank lacks, and that no faster link can bring. A faster
/// link to the target can bring a chunk if its source rank has the chunk or gets it in this step.
uint64_t Flood::useful(uint32_t number, uint32_t word) const {
  const Link &link = topology.links[number];
  uint64_t chunks =
      now[static_cast<size_t>(link.from) * words + word] & ~next[static_cast<size_t>(link.to) * words + word];
  for (uint32_t i = fasterBegin[number]; chunks != 0 && i < fasterBegin[number + 1]; ++i)
    chunks &= ~next[static_cast<size_t>(faster[i]) * words + word];
  return chunks;
}

/// Examines up to four random useful chunks, and returns the chunk that the fewest ranks have. Returns None if no chunk
/// is useful.
uint32_t Flood::pick(uint32_t link, Random &random) const {
  constexpr uint32_t mostSamples = 4;
  const uint32_t first = random.below(words), rotation = random.below(64);
  uint32_t best = None, samples = 0;
  for (uint32_t i = 0; i < words && samples < mostSamples; ++i) {
    const uint32_t word = first + i < words ? first + i : first + i - words;
    for (uint64_t left = std::rotr(useful(link, word), static_cast<int>(rotation)); left != 0 && samples < mostSamples;
         left &= left - 1, ++samples) {
      const uint32_t chunk = word * 64 + (static_cast<uint32_t>(std::countr_zero(left)) + rotation) % 64;
      if (best == None || holders[chunk] < holders[best])
        best = chunk;
    }
  }
  return best;
}

void Flood::addStep(Random &random, Algorithm &found) {
  capacity.begin();
  for (size_t g = 0, begin = 0; g < groups.size(); begin = groups[g++])
    random.shuffle(order.data() + begin, groups[g] - static_cast<uint32_t>(begin));
  for (uint32_t link : order)
    while (capacity.allows(link)) {
      const uint32_t chunk = pick(link, random);
      if (chunk == None)
        break;
      capacity.take(link);
      wordOf(next, topology.links[link].to, chunk) |= uint64_t{1} << chunk % 64;
      ++holders[chunk];
      --missing;
      found.sends.push_back({chunk, link});
    }
  for (size_t i = found.stepBegin.back(); i < found.sends.size(); ++i) {
    const algorithm::Send &send = found.sends[i];
    wordOf(now, topology.links[send.link].to, send.chunk) |= uint64_t{1} << send.chunk % 64;
  }
  found.endStep(roundsPerStep);
}

End Flood::run(Random &random, const std::function<bool()> &stops, Algorithm &found) {
  if (stops && stops())
    return End::Stopped;
  start();
  while (missing != 0) {
    const size_t before = found.sends.size();
    addStep(random, found);
    if (found.sends.size() == before)
      return End::Stuck;
    if (stops && stops())
      return End::Stopped;
  }
  return End::Found;
}

} // namespace gc3::greedy
