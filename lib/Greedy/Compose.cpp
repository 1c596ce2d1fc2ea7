// SPDX-License-Identifier: Apache-2.0
#include "Compose.h"
#include "Flood.h"
#include <algorithm>

namespace gc3::greedy {

using algorithm::Algorithm;
using algorithm::Demand;
using topology::Link;
using topology::Topology;

namespace {

void addChunk(Demand &demand, uint32_t source) {
  demand.sources.push_back({source, 0});
  demand.sourceBegin.push_back(static_cast<uint32_t>(demand.sources.size()));
  for (uint32_t rank = 0; rank < demand.ranks; ++rank)
    demand.targets.push_back({rank, 0});
  demand.targetBegin.push_back(static_cast<uint32_t>(demand.targets.size()));
}

bool isSame(const Topology &a, const Topology &b) {
  auto same = [](const Link &one, const Link &other) {
    return one.from == other.from && one.to == other.to && one.bandwidth == other.bandwidth;
  };
  return a.ranks == b.ranks && std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(), same) &&
         a.boundBegin == b.boundBegin && a.boundLinks == b.boundLinks && a.boundBandwidth == b.boundBandwidth;
}

} // namespace

std::optional<Compose> Compose::find(const Topology &whole, const Topology &limits, const Demand &demand,
                                     std::vector<uint32_t> orbit, uint32_t roundsPerStep) {
  Compose found(limits, demand, roundsPerStep);
  found.orbit = std::move(orbit);
  found.machineOf = machinesOf(whole);
  const uint32_t machines = *std::max_element(found.machineOf.begin(), found.machineOf.end()) + 1;
  if (machines == 1 || machines == whole.ranks)
    return {};
  found.inside.resize(machines);
  found.separate(whole);
  if (!found.isConnected())
    return {};
  found.findIdenticalMachines();
  found.demandBetween();
  return found;
}

/// Extracts the topology inside each machine from `whole`, and the topology between machines from `limits`.
void Compose::separate(const Topology &whole) {
  const auto machines = static_cast<uint32_t>(inside.size());
  std::vector<uint32_t> ranksOf(machines, 0), linksBetween;
  for (uint32_t rank = 0; rank < whole.ranks; ++rank)
    placeIn.push_back(ranksOf[machineOf[rank]]++);
  std::vector<std::vector<uint32_t>> linksOf(machines);
  for (uint32_t link = 0; link < whole.linkCount(); ++link) {
    const uint32_t from = machineOf[whole.links[link].from], to = machineOf[whole.links[link].to];
    (from == to ? linksOf[from] : linksBetween).push_back(link);
  }
  const topology::BoundsOfLinks boundsOf = boundsOfLinks(whole);
  for (uint32_t machine = 0; machine < machines; ++machine)
    inside[machine] = partOf(whole, boundsOf, std::move(linksOf[machine]), placeIn, ranksOf[machine]);
  between = partOf(limits, boundsOfLinks(limits), std::move(linksBetween), machineOf, machines);
}

bool Compose::isConnected() const {
  auto connected = [](const topology::Part &part) { return findDisconnection(part.topology).empty(); };
  return connected(between) && std::all_of(inside.begin(), inside.end(), connected);
}

void Compose::findIdenticalMachines() {
  std::vector<uint32_t> firsts;
  for (uint32_t machine = 0; machine < inside.size(); ++machine) {
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](uint32_t first) {
      return isSame(inside[first].topology, inside[machine].topology);
    });
    firstIdentical.push_back(known == firsts.end() ? machine : *known);
    if (known == firsts.end())
      firsts.push_back(machine);
  }
}

void Compose::demandBetween() {
  betweenDemand.ranks = static_cast<uint32_t>(inside.size());
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    addChunk(betweenDemand, machineOf[demand.sourcesOf(chunk)[0].rank]);
}

/// Maps each chunk of `betweenDemand` to a chunk of `demand`. The algorithm between machines does not distinguish the
/// chunks of one machine. So if a chunk first leaves its machine from some rank, this function chooses a chunk that
/// starts on that rank, if an unused one is left. A chunk of another rank would first have to move there.
void Compose::assign(const Algorithm &outside) {
  constexpr uint32_t None = UINT32_MAX;
  chunkOf.assign(demand.chunks(), None);
  std::vector<std::vector<uint32_t>> free(demand.ranks); // by source
  for (uint32_t chunk = demand.chunks(); chunk-- > 0;)
    free[demand.sourcesOf(chunk)[0].rank].push_back(chunk);
  for (const algorithm::Send &send : outside.sends) {
    auto &own = free[limits.links[between.links[send.link]].from];
    const bool leavesHome = between.topology.links[send.link].from == betweenDemand.sourcesOf(send.chunk)[0].rank;
    if (leavesHome && chunkOf[send.chunk] == None && !own.empty()) {
      chunkOf[send.chunk] = own.back();
      own.pop_back();
    }
  }
  std::vector<std::vector<uint32_t>> others(inside.size()); // by machine
  for (uint32_t rank = 0; rank < demand.ranks; ++rank)
    others[machineOf[rank]].insert(others[machineOf[rank]].end(), free[rank].begin(), free[rank].end());
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    if (chunkOf[chunk] == None) {
      auto &left = others[betweenDemand.sourcesOf(chunk)[0].rank];
      chunkOf[chunk] = left.back();
      left.pop_back();
    }
}

/// Returns, by rank, the number of chunks that start on the rank or enter its machine there. The number is summed over
/// the ranks of the same orbit.
std::vector<uint32_t> Compose::arrivals(const Algorithm &outside) const {
  std::vector<uint32_t> ofOrbit(demand.ranks, 0), result;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    ++ofOrbit[orbit[demand.sourcesOf(chunk)[0].rank]];
  for (const algorithm::Send &send : outside.sends)
    ++ofOrbit[orbit[limits.links[between.links[send.link]].to]];
  for (uint32_t rank = 0; rank < demand.ranks; ++rank)
    result.push_back(ofOrbit[orbit[rank]]);
  return result;
}

/// Solves one machine several times, and keeps the solution with the fewest steps.
End Compose::solveInside(Inside &problem, Random &random, const Stops &stops) const {
  constexpr uint32_t tries = 8;
  const topology::Part &part = inside[problem.machine];
  Demand all;
  all.ranks = part.topology.ranks;
  for (uint32_t place = 0; place < all.ranks; ++place)
    for (uint32_t i = 0; i < problem.chunks[place]; ++i)
      addChunk(all, place);
  Flood flood(part.topology, all, 1, stops);
  Algorithm best;
  for (uint32_t i = 0; i < tries; ++i) {
    Algorithm found;
    if (const End end = flood.run(random, stops, found); end != End::Found)
      return end;
    if (i == 0 || found.steps() < best.steps())
      best = std::move(found);
  }
  std::vector<Tree> trees(all.chunks());
  for (const algorithm::Send &send : best.sends)
    trees[send.chunk].push_back(send.link);
  problem.trees.resize(all.ranks);
  for (uint32_t chunk = 0; chunk < all.chunks(); ++chunk)
    problem.trees[all.sourcesOf(chunk)[0].rank].push_back(std::move(trees[chunk]));
  return End::Found;
}

/// Solves all machines. The chunks that arrive on a rank continue along at most 1, 2, 4 or 8 trees (see Tree); the
/// limit is random. More trees use the links more evenly, but have longer paths.
End Compose::solveMachines(const std::vector<uint32_t> &arrivals, Random &random, const Stops &stops) {
  const uint32_t mostTrees = 1u << random.below(4);
  const uint32_t most = *std::max_element(arrivals.begin(), arrivals.end());
  std::vector<std::vector<uint32_t>> chunks(inside.size());
  for (uint32_t rank = 0; rank < demand.ranks; ++rank)
    chunks[machineOf[rank]].push_back((arrivals[rank] * std::min(most, mostTrees) + most - 1) / most);
  solved.clear();
  solvedFor.clear();
  for (uint32_t machine = 0; machine < inside.size(); ++machine) {
    const auto known = std::find_if(solved.begin(), solved.end(), [&](const Inside &problem) {
      return problem.machine == firstIdentical[machine] && problem.chunks == chunks[machine];
    });
    solvedFor.push_back(static_cast<uint32_t>(known - solved.begin()));
    if (known != solved.end())
      continue;
    solved.push_back({firstIdentical[machine], std::move(chunks[machine]), {}});
    if (const End end = solveInside(solved.back(), random, stops); end != End::Found)
      return end;
  }
  return End::Found;
}

Trees Compose::compose(const Algorithm &outside) const {
  std::vector<uint32_t> sources, treesUsed(demand.ranks, 0);
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    sources.push_back(demand.sourcesOf(chunk)[0].rank);
  Trees trees(limits, sources, roundsPerStep);
  auto addInside = [&](uint32_t chunk, uint32_t rank) {
    const uint32_t machine = machineOf[rank];
    const std::vector<Tree> &fromRank = solved[solvedFor[machine]].trees[placeIn[rank]];
    for (uint32_t link : fromRank[treesUsed[rank]++ % fromRank.size()])
      trees.add(chunk, inside[machine].links[link]);
  };
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    addInside(chunk, sources[chunk]);
  for (const algorithm::Send &send : outside.sends) {
    const uint32_t link = between.links[send.link];
    trees.add(chunkOf[send.chunk], link);
    addInside(chunkOf[send.chunk], limits.links[link].to);
  }
  return trees;
}

End Compose::run(Random &random, const Stops &stops, Algorithm &found) {
  Algorithm outside;
  End end = Flood(between.topology, betweenDemand, roundsPerStep, stops).run(random, stops, outside);
  if (end != End::Found)
    return end;
  assign(outside);
  end = solveMachines(arrivals(outside), random, stops);
  return end == End::Found ? compose(outside).run(random, stops, found) : end;
}

} // namespace gc3::greedy
