// SPDX-License-Identifier: Apache-2.0
#include "gc3/Algorithm/Bounds.h"
#include "gc3/Support/StopCheck.h"
#include "gc3/Topology/Lattice.h"
#include "gc3/Topology/Machines.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace gc3::algorithm {

using topology::Link;
using topology::Topology;

namespace {

/// Computes an upper bound on the number of chunks that a set of links carries in one round. For each link, applies the
/// bound that restricts the set most.
class Throughput {
public:
  explicit Throughput(const Topology &topology)
      : topology(topology), boundsOf(boundsOfLinks(topology)), under(topology.boundCount(), 0),
        isCounted(topology.boundCount(), 0) {}

  uint64_t of(const std::vector<uint32_t> &links) {
    std::vector<uint32_t> touched;
    for (uint32_t link : links)
      for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i) {
        const uint32_t bound = boundsOf.bounds[i];
        if (under[bound] == 0)
          touched.push_back(bound);
        under[bound] += topology.links[link].bandwidth;
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
  /// Returns the bound that contains `link` and restricts the examined links most, or boundCount() if no such bound
  /// restricts them.
  uint32_t tightest(uint32_t link) const {
    uint32_t best = topology.boundCount();
    double most = 1;
    for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i) {
      const uint32_t bound = boundsOf.bounds[i];
      const double times = static_cast<double>(under[bound]) / topology.boundBandwidth[bound];
      if (times > most)
        most = times, best = bound;
    }
    return best;
  }

  const Topology &topology;
  const topology::BoundsOfLinks boundsOf;
  std::vector<uint64_t> under;    ///< by bound: total bandwidth of the examined links that the bound contains
  std::vector<uint8_t> isCounted; ///< by bound: 1 if `total` already includes it
};

class CutSearch {
public:
  /// If `rounds` is not 0, fullLinks() returns the result for that number of rounds after run().
  CutSearch(const Topology &topology, const Demand &demand, uint32_t rounds, const std::function<bool()> &stops)
      : topology(topology), demand(demand), rounds(rounds), stop(stops), throughput(topology), groupOf(topology.ranks),
        isFull(rounds != 0 ? topology.links.size() : 0, 0) {}

  Bounds run() {
    if (topology.ranks <= mostForAllSets) {
      examineSets();
    } else {
      examineRanks();
      examineMachines();
      examineHalves();
      examinePrefixes();
    }
    examineEntries();
    examineDistances();
    const uint64_t divisor = std::max<uint64_t>(1, std::gcd(best.crossing, best.bandwidth));
    best.crossing /= divisor, best.bandwidth /= divisor;
    return best;
  }

  std::vector<uint8_t> fullLinks() { return std::move(isFull); }

private:
  static constexpr uint32_t mostForAllSets = 16;

  uint32_t sourceOf(uint32_t chunk) const { return demand.sourcesOf(chunk)[0].rank; }

  void addCut(uint64_t crossing, uint64_t bandwidth) {
    if (bandwidth != 0 && crossing * best.bandwidth > best.crossing * bandwidth)
      best.crossing = crossing, best.bandwidth = bandwidth;
  }

  /// Records that at least `crossing` sends must use these links.
  void addCut(uint64_t crossing, const std::vector<uint32_t> &links) {
    const uint64_t bandwidth = throughput.of(links);
    addCut(crossing, bandwidth);
    if (rounds == 0 || crossing == 0 || crossing != bandwidth * rounds)
      return;
    uint64_t alone = 0; // sum of the bandwidths of the links, ignoring bounds over several links
    for (uint32_t link : links)
      alone += topology.links[link].bandwidth;
    for (uint32_t link : links)
      isFull[link] |= alone == bandwidth;
  }

  void examineSets();
  void examineGroups(uint32_t groups);
  void examineRanks();
  void examineMachines();
  void examineHalves();
  void examinePrefixes();
  std::vector<uint64_t> wantedByAll(const std::vector<Topology> &machines);
  std::vector<uint64_t> ranksByHops(const Topology &machine, const std::set<uint32_t> &entries);
  void examineEntries();
  void examineDistances();

  const Topology &topology;
  const Demand &demand;
  const uint32_t rounds;
  StopCheck stop;
  Throughput throughput;
  std::vector<uint32_t> groupOf; ///< by rank: its group, for examineGroups()
  std::vector<uint8_t> isFull;   ///< by link: result of fullLinks()
  Bounds best;
};

/// Examines the sends that leave each set of ranks. This covers the sends that enter a set, because they leave its
/// complement.
void CutSearch::examineSets() {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> chunkCounts; // number of chunks by source and set of targets
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    uint32_t targets = 0;
    for (const BufferChunk &target : demand.targetsOf(chunk))
      targets |= 1u << target.rank;
    ++chunkCounts[{sourceOf(chunk), targets}];
  }
  std::vector<uint32_t> links;
  const uint64_t workOfSet = chunkCounts.size() + topology.links.size();
  for (uint32_t set = 1; set + 1 < 1u << topology.ranks && !stop.addWork(workOfSet); ++set) {
    uint64_t crossing = 0;
    for (const auto &[ends, count] : chunkCounts)
      crossing += (set >> ends.first & 1) != 0 && (ends.second & ~set) != 0 ? count : 0;
    if (crossing == 0)
      continue;
    links.clear();
    for (uint32_t link = 0; link < topology.linkCount(); ++link)
      if ((set >> topology.links[link].from & 1) != 0 && (set >> topology.links[link].to & 1) == 0)
        links.push_back(link);
    addCut(crossing, links);
  }
}

/// Examines the sends that enter each group of ranks, and the sends that leave it.
void CutSearch::examineGroups(uint32_t groups) {
  std::vector<uint64_t> in(groups, 0), out(groups, 0);
  std::vector<uint32_t> seen(groups, UINT32_MAX); // by group: the last chunk counted in `in`
  for (uint32_t chunk = 0; chunk < demand.chunks() && !stop.addWork(demand.targetsOf(chunk).size()); ++chunk) {
    const uint32_t home = groupOf[sourceOf(chunk)];
    bool leaves = false;
    for (const BufferChunk &target : demand.targetsOf(chunk)) {
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
  for (uint32_t group = 0; group < groups; ++group) {
    addCut(in[group], into[group]);
    addCut(out[group], outOf[group]);
  }
}

void CutSearch::examineRanks() {
  std::iota(groupOf.begin(), groupOf.end(), 0);
  examineGroups(topology.ranks);
}

void CutSearch::examineMachines() {
  groupOf = machinesOf(topology);
  examineGroups(*std::max_element(groupOf.begin(), groupOf.end()) + 1);
}

/// Examines the two halves of the ranks along each dimension of a lattice.
void CutSearch::examineHalves() {
  uint32_t stride = topology.ranks;
  for (uint32_t size : topology.lattice) {
    stride /= size;
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      groupOf[rank] = rank / stride % size < size / 2 ? 0 : 1;
    examineGroups(2);
  }
}

/// For each k, examines the sends between the ranks below k and the other ranks, in both directions. Ignores bounds
/// over several links.
void CutSearch::examinePrefixes() {
  const uint32_t ranks = topology.ranks;
  // Arrays of differences: entry r is the change of the count when rank r joins the set.
  std::vector<int64_t> up(ranks + 1, 0), down(ranks + 1, 0), linksUp(ranks + 1, 0), linksDown(ranks + 1, 0);
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const uint32_t source = sourceOf(chunk);
    uint32_t lowest = source, highest = source;
    for (const BufferChunk &target : demand.targetsOf(chunk))
      lowest = std::min(lowest, target.rank), highest = std::max(highest, target.rank);
    ++up[source], --up[highest];
    ++down[lowest], --down[source];
  }
  for (const Link &link : topology.links) {
    auto &through = link.from < link.to ? linksUp : linksDown;
    through[std::min(link.from, link.to)] += link.bandwidth;
    through[std::max(link.from, link.to)] -= link.bandwidth;
  }
  for (auto *differences : {&up, &down, &linksUp, &linksDown})
    std::partial_sum(differences->begin(), differences->end(), differences->begin());
  for (uint32_t rank = 0; rank + 1 < ranks; ++rank) {
    addCut(static_cast<uint64_t>(up[rank]), static_cast<uint64_t>(linksUp[rank]));
    addCut(static_cast<uint64_t>(down[rank]), static_cast<uint64_t>(linksDown[rank]));
  }
}

/// Returns, by machine, the number of chunks that start outside and that all ranks of the machine want.
std::vector<uint64_t> CutSearch::wantedByAll(const std::vector<Topology> &machines) {
  std::vector<uint64_t> wanted(machines.size(), 0);
  std::vector<uint32_t> ranks(machines.size(), 0); // by machine: those that want the chunk
  for (uint32_t chunk = 0; chunk < demand.chunks() && !stop.addWork(2 * demand.targetsOf(chunk).size()); ++chunk) {
    uint32_t last = UINT32_MAX; // targets are in the order of their ranks
    for (const BufferChunk &target : demand.targetsOf(chunk)) {
      const uint32_t group = groupOf[target.rank];
      if (std::exchange(last, target.rank) != target.rank && ++ranks[group] == machines[group].ranks)
        wanted[group] += group != groupOf[sourceOf(chunk)];
    }
    for (const BufferChunk &target : demand.targetsOf(chunk))
      ranks[groupOf[target.rank]] = 0;
  }
  return wanted;
}

/// Returns, for each d, the most ranks that are at most d hops from one of the entries. The last number is the largest.
/// Returns nothing if the work must stop.
std::vector<uint64_t> CutSearch::ranksByHops(const Topology &machine, const std::set<uint32_t> &entries) {
  const topology::LinksOfRanks outgoing = linksFrom(machine);
  std::vector<uint64_t> most;
  for (uint32_t rank : entries) {
    if (stop.addWork(machine.links.size()))
      return {};
    std::vector<uint64_t> count(most.size(), 0); // ranks by their hops
    for (uint32_t hops : distancesFrom(machine, outgoing, rank))
      if (hops != topology::Unreachable) {
        count.resize(std::max<size_t>(count.size(), hops + 1), 0);
        ++count[hops];
      }
    std::partial_sum(count.begin(), count.end(), count.begin());
    most.resize(count.size(), most.empty() ? 0 : most.back());
    for (size_t hops = 0; hops < count.size(); ++hops)
      most[hops] = std::max(most[hops], count[hops]);
  }
  return most;
}

/// Examines chunks from outside that all ranks of a machine want. If a chunk enters the machine with d rounds left, it
/// reaches only ranks within d hops. So it must enter in several places if these are not all ranks.
void CutSearch::examineEntries() {
  groupOf = machinesOf(topology);
  std::vector<Topology> machines(*std::max_element(groupOf.begin(), groupOf.end()) + 1);
  std::vector<uint32_t> place; // by rank: its number in the machine
  for (uint32_t group : groupOf)
    place.push_back(machines[group].ranks++);
  const std::vector<uint64_t> wanted = wantedByAll(machines);
  std::vector<std::vector<uint32_t>> entering(machines.size());
  for (uint32_t number = 0; number < topology.linkCount(); ++number)
    if (const Link &link = topology.links[number]; groupOf[link.from] != groupOf[link.to])
      entering[groupOf[link.to]].push_back(number);
    else if (wanted[groupOf[link.to]] != 0)
      machines[groupOf[link.to]].links.push_back({.from = place[link.from], .to = place[link.to]});
  for (uint32_t group = 0; group < machines.size(); ++group) {
    const uint64_t bandwidth = throughput.of(entering[group]), needed = wanted[group] * machines[group].ranks;
    if (needed == 0 || bandwidth == 0)
      continue;
    std::set<uint32_t> entries;
    for (uint32_t link : entering[group])
      entries.insert(place[topology.links[link].to]);
    const std::vector<uint64_t> reached = ranksByHops(machines[group], entries);
    uint64_t last = 0, served = 0; // number of last rounds; ranks that chunks reach if they enter in these rounds
    for (; last < reached.size() && served < needed; ++last)
      served += bandwidth * reached[last];
    if (served < needed && !reached.empty())
      last += (needed - served - 1) / (bandwidth * reached.back()) + 1;
    best.atLeast = std::max(best.atLeast, last);
  }
}

/// Finds the longest path of a chunk, which bounds the steps, and the minimum number of sends over all links, which
/// bounds the rounds. A rank that wants a chunk in several places receives it once. If the topology looks the same from
/// all ranks, the distances from rank 0 give all others.
void CutSearch::examineDistances() {
  const topology::LinksOfRanks outgoing = linksFrom(topology);
  const topology::Lattice lattice(topology);
  const bool isSymmetric = topology.ranks > mostForAllSets && lattice.cell() == 1 && linkClasses(topology).has_value();
  std::vector<std::vector<uint32_t>> bySource(topology.ranks);
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    bySource[sourceOf(chunk)].push_back(chunk);
  std::vector<uint32_t> seen(topology.ranks, UINT32_MAX); // by rank: the last chunk counted for this rank
  const std::vector<uint32_t> fromFirst = distancesFrom(topology, outgoing, 0);
  uint64_t sends = 0;
  for (uint32_t source = 0; source < topology.ranks && !stop.addWork(topology.links.size()); ++source) {
    if (bySource[source].empty())
      continue;
    std::vector<uint32_t> distances =
        isSymmetric ? lattice.differences(source) : distancesFrom(topology, outgoing, source);
    for (uint32_t rank = 0; isSymmetric && rank < topology.ranks; ++rank)
      distances[rank] = fromFirst[distances[rank]];
    for (uint32_t chunk : bySource[source]) {
      uint32_t farthest = 0, others = 0;
      for (const BufferChunk &target : demand.targetsOf(chunk)) {
        farthest = std::max(farthest, distances[target.rank]);
        others += target.rank != source && std::exchange(seen[target.rank], chunk) != chunk;
      }
      sends += std::max(farthest, others);
      best.steps = std::max(best.steps, farthest);
      stop.addWork(demand.targetsOf(chunk).size());
    }
  }
  std::vector<uint32_t> links(topology.links.size());
  std::iota(links.begin(), links.end(), 0);
  addCut(sends, links);
}

} // namespace

Bounds lowerBounds(const Topology &topology, const Demand &demand, const std::function<bool()> &stops) {
  return CutSearch(topology, demand, 0, stops).run();
}

std::vector<uint8_t> fullLinks(const Topology &topology, const Demand &demand, uint32_t rounds,
                               const std::function<bool()> &stops) {
  CutSearch search(topology, demand, rounds, stops);
  search.run();
  return search.fullLinks();
}

} // namespace gc3::algorithm
