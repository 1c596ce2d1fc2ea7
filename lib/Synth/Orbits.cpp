// SPDX-License-Identifier: Apache-2.0
// Computes orbits by union-find.
#include "Symmetry.h"
#include <algorithm>
#include <numeric>

namespace gc3::synth {

namespace {

/// Disjoint sets of numbers, each named by its least member.
class Sets {
public:
  explicit Sets(size_t size) : parent(size) { std::iota(parent.begin(), parent.end(), 0); }

  uint32_t find(uint32_t member) {
    while (parent[member] != member)
      member = parent[member] = parent[parent[member]];
    return member;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<uint32_t> names() {
    std::vector<uint32_t> result(parent.size());
    for (uint32_t i = 0; i < result.size(); ++i)
      result[i] = find(i);
    return result;
  }

private:
  std::vector<uint32_t> parent;
};

/// Returns the orbits of pairs (a, b), or of single numbers if `second` is null.
std::vector<uint32_t> orbitsOf(size_t count, const std::vector<Automorphism> &generators,
                               std::vector<uint32_t> Automorphism::*first,
                               std::vector<uint32_t> Automorphism::*second = nullptr, size_t seconds = 1) {
  Sets sets(count * seconds);
  for (const Automorphism &generator : generators)
    for (size_t a = 0; a < count; ++a)
      for (size_t b = 0; b < seconds; ++b)
        sets.join(static_cast<uint32_t>(a * seconds + b),
                  static_cast<uint32_t>((generator.*first)[a] * seconds + (second ? (generator.*second)[b] : 0)));
  return sets.names();
}

} // namespace

std::map<std::vector<uint32_t>, std::vector<uint32_t>> chunkClasses(const algorithm::Demand &demand) {
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> classes;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    classes[chunkClass(demand, chunk, nullptr)].push_back(chunk);
  return classes;
}

std::vector<uint32_t> chunkClass(const algorithm::Demand &demand, uint32_t chunk, const std::vector<uint32_t> *map) {
  std::vector<uint32_t> sources, targets;
  for (const algorithm::BufferChunk &source : demand.sourcesOf(chunk))
    sources.push_back(map ? (*map)[source.rank] : source.rank);
  for (const algorithm::BufferChunk &target : demand.targetsOf(chunk))
    targets.push_back(map ? (*map)[target.rank] : target.rank);
  std::sort(sources.begin(), sources.end());
  std::sort(targets.begin(), targets.end());
  sources.insert(sources.end(), targets.begin(), targets.end());
  return sources;
}

Symmetry orbits(const topology::Topology &topology, const algorithm::Demand &demand,
                const std::vector<Automorphism> &generators, size_t count, uint32_t waves) {
  // Chunks of different waves also form an orbit. The map `onward` keeps ranks and links, and maps each chunk to a
  // chunk of the next wave.
  Automorphism onward;
  for (uint32_t i = 0; i < std::max(topology.linkCount(), topology.ranks); ++i) {
    onward.ranks.push_back(i);
    onward.links.push_back(i);
  }
  onward.chunks.resize(demand.chunks());
  Symmetry result;
  result.isTrivial = count == 0 && waves == 1;
  result.waves = waves;
  result.delay.resize(demand.chunks());
  for (const auto &[key, members] : chunkClasses(demand))
    for (size_t i = 0; i < members.size(); ++i) {
      const size_t inWave = members.size() / waves;
      onward.chunks[members[i]] = members[(i + inWave) % members.size()];
      result.delay[members[i]] = static_cast<uint32_t>(i / inWave);
    }
  std::vector<Automorphism> group(generators.begin(), generators.begin() + static_cast<std::ptrdiff_t>(count));
  result.link = orbitsOf(topology.links.size(), group, &Automorphism::links);
  result.bound = orbitsOf(topology.boundCount(), group, &Automorphism::bounds);
  group.push_back(onward);
  result.chunk = orbitsOf(demand.chunks(), group, &Automorphism::chunks);
  result.chunkOnRank = orbitsOf(demand.chunks(), group, &Automorphism::chunks, &Automorphism::ranks, topology.ranks);
  result.chunkOnLink =
      orbitsOf(demand.chunks(), group, &Automorphism::chunks, &Automorphism::links, topology.links.size());
  return result;
}

} // namespace gc3::synth
