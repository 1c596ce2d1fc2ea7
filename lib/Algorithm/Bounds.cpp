// SPDX-License-Identifier: Apache-2.0
#include "gc3/Algorithm/Bounds.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <algorithm>
#include <numeric>
#include <utility>

namespace gc3::algorithm {

using topology::Link;
using topology::Topology;

namespace {

uint32_t roundsFor(uint64_t chunks, uint64_t perRound) {
  return perRound == 0 ? 0 : static_cast<uint32_t>((chunks + perRound - 1) / perRound);
}

/// What goes over some links in a round, by whichever bounds are the tighter for them. No more than that; maybe less.
class Throughput {
public:
  explicit Throughput(const Topology &topology) : topology(topology), boundsBegin(topology.links.size() + 1, 0) {
    for (uint32_t link : topology.boundLinks)
      ++boundsBegin[link + 1];
    for (size_t link = 0; link < topology.links.size(); ++link)
      boundsBegin[link + 1] += boundsBegin[link];
    bounds.resize(topology.boundLinks.size());
    std::vector<uint32_t> next(boundsBegin.begin(), boundsBegin.end() - 1);
    for (uint32_t bound = 0; bound < topology.boundCount(); ++bound)
      for (uint32_t i = topology.boundBegin[bound]; i < topology.boundBegin[bound + 1]; ++i)
        bounds[next[topology.boundLinks[i]]++] = bound;
    under.assign(topology.boundCount(), 0);
    isCounted.assign(topology.boundCount(), 0);
  }

  uint64_t of(const std::vector<uint32_t> &links) {
    std::vector<uint32_t> touched;
    for (uint32_t link : links)
      for (uint32_t i = boundsBegin[link]; i < boundsBegin[link + 1]; ++i) {
        if (under[bounds[i]] == 0)
          touched.push_back(bounds[i]);
        under[bounds[i]] += topology.links[link].bandwidth;
      }
    uint64_t total = 0;
    for (uint32_t link : links) {
      const uint32_t bound = tightest(link);
      if (bound == topology.boundCount())
        total += topology.links[link].bandwidth;
      else if (!std::exchange(isCounted[bound], 1))
        total += topology.boundBandwidth[bound];
    }
    for (uint32_t bound : touched)
      under[bound] = 0, isCounted[bound] = 0;
    return total;
  }

private:
  /// Of the bounds that the link is under the one that takes most from its links here; boundCount() if none does.
  uint32_t tightest(uint32_t link) const {
    uint32_t best = topology.boundCount();
    double most = 1;
    for (uint32_t i = boundsBegin[link]; i < boundsBegin[link + 1]; ++i) {
      const double times = static_cast<double>(under[bounds[i]]) / topology.boundBandwidth[bounds[i]];
      if (times > most)
        most = times, best = bounds[i];
    }
    return best;
  }

  const Topology &topology;
  std::vector<uint32_t> boundsBegin, bounds; ///< by link
  std::vector<uint64_t> under;               ///< by bound: the bandwidth of the links looked at
  std::vector<uint8_t> isCounted;            ///< by bound
};

/// Ranks in groups: what has to go into each of them, and out of it.
uint32_t roundsOfGroups(const Topology &topology, const Demand &demand, const std::vector<uint32_t> &groupOf,
                        uint32_t groups) {
  std::vector<uint64_t> in(groups, 0), out(groups, 0);
  std::vector<uint32_t> seen(groups, UINT32_MAX); // by group, the last chunk that had to go there
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const uint32_t home = groupOf[demand.sourcesOf(chunk)[0].rank];
    bool leaves = false;
    for (const Place &target : demand.targetsOf(chunk)) {
      const uint32_t group = groupOf[target.rank];
      leaves |= group != home;
      if (group != home && seen[group] != chunk)
        ++in[group], seen[group] = chunk;
    }
    out[home] += leaves;
  }
  std::vector<std::vector<uint32_t>> into(groups), outOf(groups);
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    if (const uint32_t from = groupOf[topology.links[link].from], to = groupOf[topology.links[link].to]; from != to)
      outOf[from].push_back(link), into[to].push_back(link);
  Throughput throughput(topology);
  uint32_t rounds = 0;
  for (uint32_t group = 0; group < groups; ++group)
    rounds = std::max(
        {rounds, roundsFor(in[group], throughput.of(into[group])), roundsFor(out[group], throughput.of(outOf[group]))});
  return rounds;
}

/// Each rank alone.
uint32_t roundsOfRanks(const Topology &topology, const Demand &demand) {
  std::vector<uint32_t> groupOf(topology.ranks);
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    groupOf[rank] = rank;
  return roundsOfGroups(topology, demand, groupOf, topology.ranks);
}

/// What the fastest links connect.
uint32_t roundsOfMachines(const Topology &topology, const Demand &demand) {
  uint32_t fastest = 0;
  for (const Link &link : topology.links)
    fastest = std::max(fastest, link.bandwidth);
  llvm::EquivalenceClasses<uint32_t> machines;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    machines.insert(rank);
  for (const Link &link : topology.links)
    if (link.bandwidth == fastest && link.kind != topology::LinkKind::Network)
      machines.unionSets(link.from, link.to);
  std::vector<uint32_t> groupOf(topology.ranks), number(topology.ranks, UINT32_MAX);
  uint32_t groups = 0;
  for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
    uint32_t &group = number[machines.getLeaderValue(rank)];
    group = std::min(group, groups);
    groups += group == groups;
    groupOf[rank] = group;
  }
  return roundsOfGroups(topology, demand, groupOf, groups);
}

/// Halves of a lattice, along each of its dimensions.
uint32_t roundsOfHalves(const Topology &topology, const Demand &demand) {
  uint32_t rounds = 0, stride = topology.ranks;
  std::vector<uint32_t> groupOf(topology.ranks);
  for (uint32_t size : topology.lattice) {
    stride /= size;
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      groupOf[rank] = rank / stride % size < size / 2 ? 0 : 1;
    rounds = std::max(rounds, roundsOfGroups(topology, demand, groupOf, 2));
  }
  return rounds;
}

/// What has to go from ranks below k to those from k on, and back, for each k.
uint32_t roundsOfPrefixes(const Topology &topology, const Demand &demand) {
  const uint32_t ranks = topology.ranks;
  // Differences: [r] is what comes in when rank r joins the set.
  std::vector<int64_t> up(ranks + 1, 0), down(ranks + 1, 0), throughUp(ranks + 1, 0), throughDown(ranks + 1, 0);
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const uint32_t source = demand.sourcesOf(chunk)[0].rank;
    uint32_t lowest = source, highest = source;
    for (const Place &target : demand.targetsOf(chunk))
      lowest = std::min(lowest, target.rank), highest = std::max(highest, target.rank);
    ++up[source], --up[highest];
    ++down[lowest], --down[source];
  }
  for (const Link &link : topology.links) {
    auto &through = link.from < link.to ? throughUp : throughDown;
    through[std::min(link.from, link.to)] += link.bandwidth;
    through[std::max(link.from, link.to)] -= link.bandwidth;
  }
  uint32_t rounds = 0;
  int64_t nowUp = 0, nowDown = 0, linksUp = 0, linksDown = 0;
  for (uint32_t k = 1; k < ranks; ++k) {
    nowUp += up[k - 1], nowDown += down[k - 1], linksUp += throughUp[k - 1], linksDown += throughDown[k - 1];
    rounds = std::max({rounds, roundsFor(static_cast<uint64_t>(nowUp), static_cast<uint64_t>(linksUp)),
                       roundsFor(static_cast<uint64_t>(nowDown), static_cast<uint64_t>(linksDown))});
  }
  return rounds;
}

} // namespace

Bounds lowerBounds(const Topology &topology, const Demand &demand) {
  Bounds bounds;
  const topology::LinksOfRanks outgoing = linksFrom(topology);
  uint64_t hops = 0, bandwidth = 0;
  std::vector<uint32_t> distances;
  std::vector<uint32_t> bySource(demand.chunks());
  std::iota(bySource.begin(), bySource.end(), 0);
  auto sourceOf = [&](uint32_t chunk) { return demand.sourcesOf(chunk)[0].rank; };
  std::stable_sort(bySource.begin(), bySource.end(), [&](uint32_t a, uint32_t b) { return sourceOf(a) < sourceOf(b); });
  uint32_t last = topology.ranks;
  for (uint32_t chunk : bySource) {
    const uint32_t source = sourceOf(chunk);
    if (source != last)
      distances = distancesFrom(topology, outgoing, last = source);
    uint32_t farthest = 0, others = 0;
    for (const Place &target : demand.targetsOf(chunk)) {
      farthest = std::max(farthest, distances[target.rank]);
      others += target.rank != source;
    }
    hops += std::max(farthest, others);
    bounds.steps = std::max(bounds.steps, farthest);
  }
  for (const Link &link : topology.links)
    bandwidth += link.bandwidth;
  bounds.rounds = std::max({bounds.steps, roundsFor(hops, bandwidth), roundsOfRanks(topology, demand),
                            roundsOfMachines(topology, demand), roundsOfHalves(topology, demand),
                            roundsOfPrefixes(topology, demand)});
  return bounds;
}

} // namespace gc3::algorithm
