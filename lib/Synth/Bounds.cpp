// SPDX-License-Identifier: Apache-2.0
// Lower bounds: the farthest way for steps, the fullest cut for rounds. A cut is a set of ranks; each chunk that starts
// inside only and must be outside as well crosses it at least once.
#include "Cuts.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace gc3::synth {

namespace {

class CutSearch {
public:
  CutSearch(const topology::Topology &topology, const algorithm::Demand &demand, uint64_t rounds)
      : topology(topology), rounds(rounds), full(topology.links.size(), 0) {
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
      std::vector<uint32_t> sources, targets;
      for (const algorithm::Place &source : demand.sourcesOf(chunk))
        sources.push_back(source.rank);
      for (const algorithm::Place &target : demand.targetsOf(chunk))
        targets.push_back(target.rank);
      ++ways[{sources, targets}];
    }
  }

  /// `isInside`: by rank.
  void look(const std::vector<uint8_t> &isInside) {
    uint64_t crossing = 0;
    for (const auto &[way, count] : ways) {
      auto inside = [&](uint32_t rank) { return isInside[rank] != 0; };
      const bool crosses = std::all_of(way.first.begin(), way.first.end(), inside) &&
                           !std::all_of(way.second.begin(), way.second.end(), inside);
      crossing += crosses ? count : 0;
    }
    if (crossing == 0)
      return;
    const uint64_t bandwidth = std::max<uint64_t>(1, std::min(throughput(isInside, false), throughput(isInside, true)));
    if (crossing * best.bandwidth > best.crossing * bandwidth)
      best.crossing = crossing, best.bandwidth = bandwidth;
    if (crossing == bandwidth * rounds && bandwidth == ofLinksAlone(isInside))
      for (size_t i = 0; i < full.size(); ++i)
        full[i] |= isInside[topology.links[i].from] && !isInside[topology.links[i].to];
  }

  Bounds result() {
    const uint64_t divisor = std::max<uint64_t>(1, std::gcd(best.crossing, best.bandwidth));
    best.crossing /= divisor, best.bandwidth /= divisor;
    return best;
  }

  std::vector<uint8_t> fullLinks() { return std::move(full); }

private:
  uint64_t ofLinksAlone(const std::vector<uint8_t> &isInside) const {
    uint64_t sum = 0;
    for (const topology::Link &link : topology.links)
      sum += isInside[link.from] && !isInside[link.to] ? link.bandwidth : 0;
    return sum;
  }

  /// No less than what leaves the set in a round: each link counts under one bound, the first or the last that it is
  /// under, or by itself.
  uint64_t throughput(const std::vector<uint8_t> &isInside, bool backwards) {
    std::vector<uint8_t> counts(topology.links.size());
    for (size_t i = 0; i < counts.size(); ++i)
      counts[i] = isInside[topology.links[i].from] && !isInside[topology.links[i].to];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < topology.boundCount(); ++i) {
      const uint32_t bound = backwards ? topology.boundCount() - 1 - i : i;
      uint64_t apart = 0;
      for (uint32_t k = topology.boundBegin[bound]; k < topology.boundBegin[bound + 1]; ++k)
        apart += counts[topology.boundLinks[k]] ? topology.links[topology.boundLinks[k]].bandwidth : 0;
      if (apart <= topology.boundBandwidth[bound])
        continue;
      sum += topology.boundBandwidth[bound];
      for (uint32_t k = topology.boundBegin[bound]; k < topology.boundBegin[bound + 1]; ++k)
        counts[topology.boundLinks[k]] = 0;
    }
    for (size_t i = 0; i < counts.size(); ++i)
      sum += counts[i] ? topology.links[i].bandwidth : 0;
    return sum;
  }

  const topology::Topology &topology;
  const uint64_t rounds;
  std::vector<uint8_t> full; ///< by link, whether a cut needs all of it in all rounds
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, uint64_t> ways; ///< chunks by sources and targets
  Bounds best;
};

void lookAtAll(CutSearch &search, uint32_t ranks) {
  std::vector<uint8_t> isInside(ranks);
  if (ranks <= 16) {
    for (uint32_t set = 1; set + 1 < 1u << ranks; ++set) {
      for (uint32_t rank = 0; rank < ranks; ++rank)
        isInside[rank] = set >> rank & 1;
      search.look(isInside);
    }
    return;
  }
  for (uint32_t rank = 0; rank < ranks; ++rank)
    for (uint8_t alone : {uint8_t(1), uint8_t(0)}) {
      isInside.assign(ranks, !alone);
      isInside[rank] = alone;
      search.look(isInside);
    }
  for (uint8_t below : {uint8_t(1), uint8_t(0)}) {
    isInside.assign(ranks, !below);
    for (uint32_t rank = 0; rank + 1 < ranks; ++rank) {
      isInside[rank] = below;
      search.look(isInside);
    }
  }
}

} // namespace

std::vector<uint8_t> fullLinks(const topology::Topology &topology, const algorithm::Demand &demand, uint32_t rounds) {
  CutSearch search(topology, demand, rounds);
  lookAtAll(search, topology.ranks);
  return search.fullLinks();
}

Bounds lowerBounds(const topology::Topology &topology, const algorithm::Demand &demand) {
  CutSearch search(topology, demand, 0);
  lookAtAll(search, topology.ranks);
  Bounds result = search.result();
  const topology::LinksOfRanks outgoing = linksFrom(topology);
  std::map<uint32_t, std::vector<uint32_t>> distances; // by source
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    for (const algorithm::Place &target : demand.targetsOf(chunk)) {
      uint32_t away = topology::Unreachable;
      for (const algorithm::Place &source : demand.sourcesOf(chunk)) {
        auto [known, isNew] = distances.try_emplace(source.rank);
        if (isNew)
          known->second = distancesFrom(topology, outgoing, source.rank);
        away = std::min(away, known->second[target.rank]);
      }
      result.steps = std::max(result.steps, away);
    }
  return result;
}

} // namespace gc3::synth
