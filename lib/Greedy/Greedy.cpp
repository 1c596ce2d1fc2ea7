// SPDX-License-Identifier: Apache-2.0
// Runs several tries of each method, and keeps the best algorithm.
#include "gc3/Greedy/Greedy.h"
#include "Compose.h"
#include "Flood.h"
#include "Route.h"
#include "Spread.h"
#include "Symmetric.h"
#include "gc3/Algorithm/Bounds.h"
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace gc3::greedy {

using algorithm::Algorithm;
using algorithm::Demand;
using topology::Topology;

namespace {

bool areWantedEverywhere(const Demand &demand) {
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    if (!isWantedEverywhere(demand, chunk))
      return false;
  return true;
}

bool hasOneTargetEach(const Demand &demand) {
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    if (const auto targets = demand.targetsOf(chunk); targets.empty() || targets.front().rank != targets.back().rank)
      return false;
  return true;
}

bool isBetter(const Algorithm &a, const Algorithm &b) {
  return std::tuple(a.totalRounds(), a.steps(), a.sends.size()) <
         std::tuple(b.totalRounds(), b.steps(), b.sends.size());
}

/// Sends chunks along the routes of Spread.
class AlongRoutes {
public:
  AlongRoutes(const Topology &topology, const Demand &demand, uint32_t roundsPerStep, const Spread &spread)
      : topology(topology), roundsPerStep(roundsPerStep), spread(spread) {
    for (uint32_t link = 0; link < topology.linkCount(); ++link)
      urgency.push_back(spread.urgency(link));
    for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
      sources.push_back(demand.sourcesOf(chunk)[0].rank);
  }

  End run(Random &random, const std::function<bool()> &stops, Algorithm &found) {
    Trees trees(topology, sources, roundsPerStep);
    const bool isUrgencyUsed = random.below(2) != 0; // each order is the better one on some topologies
    for (uint32_t chunk = 0; chunk < sources.size(); ++chunk)
      for (uint32_t link : spread.route(chunk))
        trees.add(chunk, link, isUrgencyUsed ? urgency[link] : 1);
    return trees.run(random, stops, found);
  }

private:
  const Topology &topology;
  const uint32_t roundsPerStep;
  const Spread &spread;
  std::vector<uint32_t> urgency; ///< by link
  std::vector<uint32_t> sources; ///< by chunk: the rank on which it starts
};

/// Runs the search methods, and keeps the best algorithm that they find.
class Searcher {
public:
  Searcher(const Topology &topology, const Demand &demand, const Options &options)
      : topology(topology), demand(demand), options(options), isForAll(areWantedEverywhere(demand)) {
    const algorithm::Bounds least = lowerBounds(topology, demand, options.stops);
    bound = static_cast<uint32_t>(std::max<uint64_t>(least.rounds(), least.steps));
  }

  std::optional<Algorithm> run() {
    constexpr size_t mostSends = 50'000; // a symmetric algorithm with more sends is kept without another search: it is
                                         // good enough, and its program is shorter
    if (const std::optional<Symmetric> symmetric = Symmetric::find(topology, demand, options.stops)) {
      // The search for one point can get stuck if bounds let only some of the ranks send at a time. Then the search
      // below handles all ranks.
      searchIn(symmetric->topology(), symmetric->share(), symmetric->orbits(), symmetric->points(),
               [&](Algorithm &&part) { return symmetric->expand(part); });
      if (isOver() || (best && best->sends.size() > mostSends))
        return std::move(best);
    }
    if (options.stops && options.stops())
      return std::move(best);
    std::vector<uint32_t> each(topology.ranks);
    std::iota(each.begin(), each.end(), 0);
    searchIn(topology, demand, each, 1, [](Algorithm &&found) { return std::move(found); });
    if (best && !isOver() && hasOneTargetEach(demand))
      searchSpread();
    return std::move(best);
  }

private:
  bool isOver() const { return end == End::Stopped || (best && best->totalRounds() <= bound); }

  /// Searches for an algorithm for the whole problem or for a share. `expand` turns an algorithm for the share into an
  /// algorithm for the whole problem, which has `times` as many sends.
  template <typename Expand>
  void searchIn(const Topology &limits, const Demand &part, const std::vector<uint32_t> &orbits, uint32_t times,
                Expand expand) {
    sendLimit = MostSends / times;
    auto keep = [&](std::optional<Algorithm> &&found) {
      if (found && (!best || found->totalRounds() < best->totalRounds()))
        best = expand(std::move(*found));
    };
    if (!isForAll) {
      std::optional<Algorithm> found = bestOf(Route(limits, part, options.roundsPerStep, options.stops), limits);
      if (found)
        found = withoutIdleRounds(limits, withoutIdleCopies(limits, part, *found));
      keep(std::move(found));
      return;
    }
    keep(bestOf(Flood(limits, part, options.roundsPerStep, options.stops), limits));
    if (isOver())
      return;
    if (auto composed = Compose::find(topology, limits, part, orbits, options.roundsPerStep))
      keep(bestOf(std::move(*composed), limits));
  }

  /// Sends chunks along routes that use the links evenly.
  void searchSpread() {
    constexpr uint64_t mostWork = 2'000'000'000; // about ten seconds
    if (uint64_t{topology.ranks} * topology.linkCount() * topology.ranks > mostWork)
      return;
    Spread spread(topology, demand);
    spread.run(options.stops);
    bound = std::max(bound, static_cast<uint32_t>(spread.leastRounds()));
    if (options.leastRounds)
      *options.leastRounds = spread.leastRounds();
    std::optional<Algorithm> kept = bestOf(AlongRoutes(topology, demand, options.roundsPerStep, spread), topology);
    if (kept && isBetter(*kept, *best))
      best = std::move(kept);
  }

  /// Returns the best of several tries. Ends early if a try reaches the lower bound of rounds.
  template <typename Method>
  std::optional<Algorithm> bestOf(Method method, const Topology &limits) {
    constexpr uint64_t workInAll = 20'000'000,
                       workOfSend = 50; // work of all tries together, about a third of a second; one unit is the time
                                        // to examine a link
    std::optional<Algorithm> kept;
    uint64_t tries = options.tries != 0 ? options.tries : 64;
    for (uint64_t t = 0; t < tries; ++t) {
      Random random(options.seed + t);
      Algorithm found;
      const auto stops = [&] { return found.sends.size() > sendLimit || (options.stops && options.stops()); };
      end = method.run(random, stops, found);
      if (found.sends.size() > sendLimit)
        throw std::length_error("the algorithm has more than " + std::to_string(MostSends) +
                                " sends, the most operations that gc3c accepts in a file");
      if (end != End::Found)
        break;
      if (options.tries == 0)
        tries = std::min(tries, workInAll / (workOfSend * found.sends.size() +
                                             static_cast<uint64_t>(found.steps()) * limits.linkCount() + 1) +
                                    1);
      found = withoutIdleRounds(limits, found);
      if (!kept || isBetter(found, *kept))
        kept = std::move(found);
      if (kept->totalRounds() <= bound)
        break;
    }
    return kept;
  }

  const Topology &topology;
  const Demand &demand;
  const Options &options;
  const bool isForAll;  ///< true if all ranks want all chunks
  uint32_t bound = 0;   ///< lower bound on the number of rounds
  size_t sendLimit = 0; ///< maximum number of sends of an algorithm for the share
  End end = End::Found; ///< result of the last try
  std::optional<Algorithm> best;
};

} // namespace

std::optional<Algorithm> search(const Topology &topology, const Demand &demand, const Options &options) {
  return Searcher(topology, demand, options).run();
}

} // namespace gc3::greedy
