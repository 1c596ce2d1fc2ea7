// SPDX-License-Identifier: Apache-2.0
#include "BruteForce.h"
#include <algorithm>

namespace gc3::synth {

/// Returns the contributions to a sum that lie on `rank`: bit c is set for the contribution of rank c. `places` has two
/// bits for each contribution.
static uint32_t partOn(uint32_t rank, uint32_t places) {
  uint32_t set = 0;
  for (uint32_t contributor = 0; contributor < 4; ++contributor)
    set |= static_cast<uint32_t>((places >> 2 * contributor & 3) == rank) << contributor;
  return set;
}

BruteForce::BruteForce(const topology::Topology &topology, const algorithm::Demand &demand)
    : topology(topology), demand(demand), hops(topology.ranks, std::vector<uint32_t>(topology.ranks, topology.ranks)),
      boundsOf(topology.links.size()) {
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    hops[rank][rank] = 0;
  for (uint32_t pass = 0; pass < topology.ranks; ++pass)
    for (const topology::Link &link : topology.links)
      for (std::vector<uint32_t> &from : hops)
        from[link.to] = std::min(from[link.to], from[link.from] + 1);
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, std::vector<uint32_t>> classes;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    std::vector<uint32_t> sources, targets;
    for (const algorithm::BufferChunk &source : demand.sourcesOf(chunk))
      sources.push_back(source.rank);
    for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
      targets.push_back(target.rank);
    // A topology can have fewer than four ranks. Contributions of missing ranks count as delivered.
    uint32_t places = targets[0] * 0b01010101;
    for (uint32_t source : sources)
      places = (places & ~(3u << 2 * source)) | source << 2 * source;
    begin.push_back(isSum(chunk) ? places : 1u << sources[0]);
    classes[{sources, targets}].push_back(chunk);
  }
  for (const auto &[ends, chunks] : classes)
    chunkClasses.push_back(chunks);
  for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
      boundsOf[topology.boundLinks[i]].push_back(bound);
}

uint32_t BruteForce::hopsLeft(uint32_t chunk, const State &state) const {
  uint32_t most = 0;
  for (const algorithm::BufferChunk &target : demand.targetsOf(chunk)) {
    uint32_t nearest = isSum(chunk) ? 0 : topology.ranks;
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      if (isSum(chunk) && partOn(rank, state[chunk]) != 0)
        nearest = std::max(nearest, hops[rank][target.rank]); // a sum needs all contributions: the farthest one counts
      else if (!isSum(chunk) && (state[chunk] >> rank & 1) != 0)
        nearest = std::min(nearest, hops[rank][target.rank]);
    most = std::max(most, nearest);
  }
  return most;
}

uint32_t BruteForce::hopsLeft(const State &state) const {
  uint32_t most = 0;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    most = std::max(most, hopsLeft(chunk, state));
  return most;
}

/// Gives all remaining rounds to the last step, because additional rounds and idle steps never harm.
bool BruteForce::reaches(const State &now, uint32_t steps, uint32_t rounds) {
  const uint32_t needed = hopsLeft(now);
  if (needed == 0 || needed > steps)
    return needed == 0;
  const auto [entry, isNew] = known.try_emplace({now, steps, rounds}, false);
  if (!isNew)
    return entry->second;
  for (uint32_t ofStep = steps == 1 ? rounds : 1; ofStep <= rounds - (steps - 1); ++ofStep)
    for (const State &next : after(now, steps, ofStep))
      if (reaches(next, steps - 1, rounds - ofStep))
        return entry->second = true;
  return false;
}

std::set<BruteForce::State> BruteForce::after(const State &now, uint32_t steps, uint32_t rounds) const {
  std::vector<int64_t> limits;
  for (uint32_t bandwidth : topology.boundBandwidth)
    limits.push_back(int64_t{bandwidth} * rounds);
  std::set<Partial> partials = {{now, limits}};
  for (uint32_t link = 0; link < topology.linkCount(); ++link) {
    std::set<Partial> longer;
    for (const Partial &partial : partials)
      sendOver(link, topology.links[link].bandwidth * rounds, 0, steps, now, partial, longer);
    partials = std::move(longer);
  }
  std::set<State> states;
  for (const Partial &partial : partials)
    states.insert(canonical(partial.first));
  return states;
}

/// Adds to `out` the results of sending any set of chunks with numbers of at least `firstChunk` over the link. `room`
/// is the remaining capacity of the link. An additional copy never harms, so a link without bounds does not idle while
/// it can send one.
void BruteForce::sendOver(uint32_t link, uint32_t room, uint32_t firstChunk, uint32_t steps, const State &now,
                          const Partial &partial, std::set<Partial> &out) const {
  bool isIdle = false;
  for (uint32_t chunk = 0; room > 0 && chunk < demand.chunks(); ++chunk) {
    if (!canSend(chunk, link, steps, now, partial.first))
      continue;
    isIdle |= !isSum(chunk) && boundsOf[link].empty();
    Partial more = partial;
    bool hasRoom = chunk >= firstChunk;
    for (uint32_t bound : boundsOf[link])
      hasRoom &= --more.second[bound] >= 0;
    if (!hasRoom)
      continue;
    send(chunk, link, more.first);
    sendOver(link, room - 1, chunk + 1, steps, now, more, out);
  }
  if (!isIdle)
    out.insert(partial);
}

/// Returns true if the send is possible and can still help a target in time. A rank can't forward contributions to a
/// sum in the step in which it receives them. The target of a sum sends none of its contributions.
bool BruteForce::canSend(uint32_t chunk, uint32_t link, uint32_t steps, const State &now, const State &next) const {
  const auto [from, to] = std::pair(topology.links[link].from, topology.links[link].to);
  bool isOfUse = false;
  for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
    isOfUse |= hops[to][target.rank] < steps && (isSum(chunk) || (now[chunk] >> target.rank & 1) == 0);
  if (!isOfUse || !isSum(chunk))
    return isOfUse && (now[chunk] >> from & 1) != 0 && (next[chunk] >> to & 1) == 0;
  const uint32_t part = partOn(from, now[chunk]);
  return from != targetOf(chunk) && part != 0 && partOn(from, next[chunk]) == part &&
         (partOn(to, now[chunk]) & ~partOn(to, next[chunk])) == 0;
}

void BruteForce::send(uint32_t chunk, uint32_t link, State &next) const {
  const auto [from, to] = std::pair(topology.links[link].from, topology.links[link].to);
  uint32_t state = next[chunk];
  if (!isSum(chunk))
    state |= 1u << to;
  for (uint32_t contributor = 0; isSum(chunk) && contributor < 4; ++contributor)
    if ((partOn(from, next[chunk]) >> contributor & 1) != 0)
      state = (state & ~(3u << 2 * contributor)) | to << 2 * contributor;
  next[chunk] = state;
}

BruteForce::State BruteForce::canonical(State state) const {
  for (const std::vector<uint32_t> &chunks : chunkClasses) {
    State values;
    for (uint32_t chunk : chunks)
      values.push_back(state[chunk]);
    std::sort(values.begin(), values.end());
    for (size_t i = 0; i < chunks.size(); ++i)
      state[chunks[i]] = values[i];
  }
  return state;
}

} // namespace gc3::synth
