// SPDX-License-Identifier: Apache-2.0
// Finds automorphisms by backtracking: chooses the images of ranks one after another, and checks each against the links
// to earlier ranks. Only maps without fixed ranks are useful, and a few hundred of them are enough to choose from.
#include "Symmetry.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace gc3::synth {

namespace {

constexpr uint32_t MaxRanks = 64, MaxMaps = 256, MaxTries = 200000, MaxOrder = 256;

using Map = std::vector<uint32_t>; // rank to rank

/// All properties of a link except its ends. Two pairs of ranks are equivalent if their links have the same natures.
using Nature = std::tuple<uint32_t, topology::LinkKind, double, double>;

class MapSearch {
public:
  explicit MapSearch(const topology::Topology &topology) : ranks(topology.ranks), image(ranks), isTaken(ranks, 0) {
    std::vector<std::vector<Nature>> natures(static_cast<size_t>(ranks) * ranks);
    for (const topology::Link &link : topology.links)
      natures[link.from * ranks + link.to].emplace_back(link.bandwidth, link.kind, link.alpha, link.beta);
    std::map<std::vector<Nature>, uint32_t> numbers;
    for (std::vector<Nature> &pair : natures) {
      llvm::sort(pair);
      pairs.push_back(numbers.try_emplace(pair, static_cast<uint32_t>(numbers.size())).first->second);
    }
  }

  /// Returns the maps without fixed ranks, in the order of their images.
  std::vector<Map> run() {
    std::vector<uint32_t> next(ranks, 0); // by rank: the image to try next
    uint32_t rank = 0, tries = 0;
    while (tries < MaxTries && found.size() < MaxMaps) {
      if (rank == ranks || next[rank] == ranks) {
        if (rank == ranks)
          found.push_back(image);
        else
          next[rank] = 0;
        if (rank == 0)
          break;
        isTaken[image[--rank]] = 0;
        continue;
      }
      ++tries;
      const uint32_t to = next[rank]++;
      if (!fits(rank, to))
        continue;
      image[rank++] = to;
      isTaken[to] = 1;
    }
    return std::move(found);
  }

private:
  bool fits(uint32_t rank, uint32_t to) const {
    if (isTaken[to] || to == rank)
      return false;
    for (uint32_t before = 0; before < rank; ++before)
      if (pairs[rank * ranks + before] != pairs[to * ranks + image[before]] ||
          pairs[before * ranks + rank] != pairs[image[before] * ranks + to])
        return false;
    return true;
  }

  const uint32_t ranks;
  std::vector<uint32_t> pairs; ///< by from * ranks + to: a number for the natures of the links from one rank to the
                               ///< other
  Map image;
  std::vector<uint8_t> isTaken;
  std::vector<Map> found;
};

/// Extends a map of ranks to a map of links, bounds and chunks, if this is possible.
class Followers {
public:
  Followers(const topology::Topology &topology, const algorithm::Demand &demand) : topology(topology), demand(demand) {
    for (uint32_t i = 0; i < topology.linkCount(); ++i)
      links[linkKey(topology.links[i].from, topology.links[i].to, i)].push_back(i);
    for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
      bounds[boundKey(bound, nullptr)].push_back(bound);
    chunks = chunkClasses(demand);
  }

  std::optional<Automorphism> follow(const Map &map) {
    Automorphism result;
    result.ranks = map;
    auto linkOf = [&](uint32_t i) {
      const topology::Link &link = topology.links[i];
      return linkKey(map[link.from], map[link.to], i);
    };
    if (!match(links, topology.linkCount(), linkOf, result.links) ||
        !match(
            bounds, topology.boundCount(), [&](uint32_t bound) { return boundKey(bound, &result.links); },
            result.bounds) ||
        !match(
            chunks, demand.chunks(), [&](uint32_t chunk) { return chunkClass(demand, chunk, &map); }, result.chunks))
      return {};
    return result;
  }

private:
  using LinkKey = std::tuple<uint32_t, uint32_t, Nature>;
  using Key = std::vector<uint32_t>;

  LinkKey linkKey(uint32_t from, uint32_t to, uint32_t like) const {
    const topology::Link &link = topology.links[like];
    return {from, to, {link.bandwidth, link.kind, link.alpha, link.beta}};
  }
  Key boundKey(uint32_t bound, const std::vector<uint32_t> *map) const {
    Key key;
    for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
      key.push_back(map ? (*map)[topology.boundLinks[i]] : topology.boundLinks[i]);
    llvm::sort(key);
    key.push_back(topology.boundBandwidth[bound]);
    return key;
  }
  /// Maps each member of a class to a member of the image's class, in order. Returns false if the image's class is too
  /// small.
  template <typename Classes, typename KeyOf>
  static bool match(const Classes &classes, uint32_t count, KeyOf keyOf, std::vector<uint32_t> &image) {
    std::map<typename Classes::key_type, size_t> used;
    for (uint32_t member = 0; member < count; ++member) {
      const auto key = keyOf(member);
      const auto found = classes.find(key);
      const size_t next = used[key]++;
      if (found == classes.end() || next >= found->second.size())
        return false;
      image.push_back(found->second[next]);
    }
    return true;
  }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  std::map<LinkKey, std::vector<uint32_t>> links;
  std::map<Key, std::vector<uint32_t>> bounds, chunks;
};

bool isShift(const Map &map) {
  for (uint32_t rank = 0; rank < map.size(); ++rank)
    if (map[rank] != (rank + map[0]) % map.size())
      return false;
  return true;
}

/// Returns how many times the map must be applied until it maps rank 0 to itself. In a group without fixed ranks, it
/// then maps all ranks to themselves.
uint32_t orderOf(const Map &map) {
  uint32_t order = 1;
  for (uint32_t rank = map[0]; rank != 0; rank = map[rank])
    ++order;
  return order;
}

/// Returns the group that `generators` generate. Returns nothing if a member other than the identity fixes a rank, or
/// if the group is larger than MaxOrder.
std::optional<std::set<Map>> closure(const std::vector<Map> &generators, uint32_t ranks) {
  Map identity(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank)
    identity[rank] = rank;
  std::set<Map> group = {identity};
  std::vector<Map> queue = {identity};
  while (!queue.empty()) {
    const Map member = std::move(queue.back());
    queue.pop_back();
    for (const Map &generator : generators) {
      Map product(ranks);
      for (uint32_t rank = 0; rank < ranks; ++rank)
        product[rank] = generator[member[rank]];
      if (!group.insert(product).second)
        continue;
      for (uint32_t rank = 0; rank < ranks; ++rank)
        if (product[rank] == rank)
          return {};
      if (group.size() > MaxOrder)
        return {};
      queue.push_back(std::move(product));
    }
  }
  return group;
}

} // namespace

std::vector<Automorphism> freeGroup(const topology::Topology &topology, const algorithm::Demand &demand) {
  std::vector<Automorphism> result;
  if (topology.ranks > MaxRanks)
    return result;
  Followers followers(topology, demand);
  std::vector<Map> generators;
  std::set<Map> group;
  // Shifts come first, because programs can express them as loops over ranks. Small subgroups come before larger ones.
  std::vector<Map> maps = MapSearch(topology).run();
  llvm::stable_sort(maps, [](const Map &a, const Map &b) {
    return std::pair(!isShift(a), orderOf(a)) < std::pair(!isShift(b), orderOf(b));
  });
  for (const Map &map : maps) {
    if (group.count(map))
      continue;
    std::optional<Automorphism> automorphism = followers.follow(map);
    if (!automorphism)
      continue;
    generators.push_back(map);
    if (std::optional<std::set<Map>> larger = closure(generators, topology.ranks)) {
      group = std::move(*larger);
      result.push_back(std::move(*automorphism));
    } else {
      generators.pop_back();
    }
  }
  return result;
}

} // namespace gc3::synth
