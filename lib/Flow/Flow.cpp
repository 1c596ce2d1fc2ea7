// SPDX-License-Identifier: Apache-2.0
// A Scatter is a Gather on the reversed topology, backwards in time. So the search handles only chunks that go to one
// rank.
#include "gc3/Flow/Flow.h"
#include "FewSteps.h"
#include "Rounds.h"
#include "Sends.h"
#include "gc3/Algorithm/Bounds.h"
#include <algorithm>
#include <cassert>
#include <numeric>
#include <stdexcept>
#include <string>

namespace gc3::flow {

using algorithm::Algorithm;
using algorithm::Demand;
using topology::Topology;

namespace {

uint32_t sourceOf(const Demand &demand, uint32_t chunk) {
  return demand.sourcesOf(chunk)[0].rank;
}

uint32_t targetOf(const Demand &demand, uint32_t chunk) {
  return demand.targetsOf(chunk)[0].rank;
}

/// Returns true if `rankOf` returns the same rank for all chunks.
bool isOneRank(const Demand &demand, uint32_t (*rankOf)(const Demand &, uint32_t)) {
  for (uint32_t chunk = 1; chunk < demand.chunks(); ++chunk)
    if (rankOf(demand, chunk) != rankOf(demand, 0))
      return false;
  return true;
}

/// Searches for chunks that go to the root of a step's graph.
class GatherSearch {
public:
  /// `sources` has the rank on which each chunk starts.
  GatherSearch(const StepGraph &graph, const std::vector<uint32_t> &sources, const Options &options)
      : options(options), supply(supplyOf(graph, sources)), layers(graph, supply, stops) {
    for (uint32_t rank : sources)
      farthest = std::max(farthest, graph.hops[rank]);
  }

  std::optional<Plan> run(uint64_t leastRounds) {
    const uint32_t perStep = options.roundsPerStep;
    least = static_cast<uint32_t>(std::max<uint64_t>(farthest, (leastRounds + perStep - 1) / perStep));
    if (perStep != 1)
      return fewestEqualSteps(perStep);
    std::optional<Plan> plan = inLeastRounds();
    const bool isTooLarge = !plan && layers.isTooLarge(least);
    if (!plan && !isTooLarge)
      plan = fewestEqualSteps(1);
    mostWork = UINT64_MAX; // the search for fewer steps has its own limit
    if (plan ? plan->rounds.empty() : !isTooLarge)
      return plan;
    // Without a plan, the search for few steps is the only one whose networks are small enough.
    const uint32_t rounds = plan ? std::accumulate(plan->rounds.begin(), plan->rounds.end(), 0u) : least,
                   most = plan ? static_cast<uint32_t>(plan->rounds.size()) : rounds;
    FewSteps few = fewSteps(layers, rounds, farthest, most - 1, options.stops);
    leastSteps = few.least;
    return few.plan ? std::move(few.plan) : std::move(plan);
  }

  /// No algorithm has fewer steps of `roundsPerStep` rounds.
  uint32_t least = 0;
  uint32_t leastSteps = 0;

private:
  static std::vector<uint32_t> supplyOf(const StepGraph &graph, const std::vector<uint32_t> &sources) {
    std::vector<uint32_t> supply(graph.ranks, 0);
    for (uint32_t rank : sources)
      supply[rank] += rank != graph.root;
    return supply;
  }

  /// Tries some steps with `least` rounds in all, if these are fewer steps than single rounds are. Their network is
  /// much smaller if many chunks share each link.
  std::optional<Plan> inLeastRounds() {
    const uint32_t steps = 2 * farthest;
    if (steps >= least)
      return {};
    std::vector<uint32_t> rounds = Rounds(steps, least, layers.chunks()).growing(1);
    Attempt attempt = layers.attempt(rounds);
    return attempt.loads ? std::optional(Plan{std::move(rounds), std::move(*attempt.loads)}) : std::nullopt;
  }

  /// Finds the fewest steps of `perStep` rounds each. Their number grows until it suffices; then the search halves the
  /// interval between the last failure and the success.
  std::optional<Plan> fewestEqualSteps(uint32_t perStep) {
    std::optional<Plan> best;
    uint32_t low = least; // every smaller number has failed
    for (uint32_t steps = low, stride = 1; !best || low < best->rounds.size();) {
      if (stops() || layers.isTooLarge(steps))
        return best;
      const std::vector<uint32_t> rounds(steps, perStep);
      Attempt attempt = layers.attempt(rounds);
      if (attempt.loads) {
        best = Plan{rounds, std::move(*attempt.loads)};
      } else {
        low = steps + 1;
        least = attempt.cut ? low : least;
      }
      const auto success = best ? static_cast<uint32_t>(best->rounds.size()) : 0;
      steps = best ? low + (success - low) / 2 : low + stride - 1;
      stride *= 2;
    }
    return best;
  }

  const Options &options;
  const std::vector<uint32_t> supply;
  uint64_t mostWork = 150'000'000; ///< limit for Layers::work(): about half a minute, on 1024 ranks with long paths
  const std::function<bool()> stops = [this] { return (options.stops && options.stops()) || layers.work() > mostWork; };
  Layers layers;
  uint32_t farthest = 0; ///< most hops of a chunk
};

} // namespace

bool applies(const Demand &demand) {
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    const auto targets = demand.targetsOf(chunk);
    if (demand.sourcesOf(chunk).size() != 1 || targets.empty() || targets.front().rank != targets.back().rank)
      return false;
  }
  return demand.chunks() != 0 && (isOneRank(demand, targetOf) || isOneRank(demand, sourceOf));
}

Result search(const Topology &topology, const Demand &demand, const Options &options) {
  const bool isGather = isOneRank(demand, targetOf);
  const Topology &towards = isGather ? topology : reversed(topology);
  const std::optional<StepGraph> graph = makeStepGraph(towards, isGather ? targetOf(demand, 0) : sourceOf(demand, 0));
  const algorithm::Bounds bounds = lowerBounds(topology, demand, options.stops);
  Result result;
  result.leastRounds = std::max<uint64_t>(bounds.rounds(), bounds.steps);
  if (!graph || (options.stops && options.stops()))
    return result;
  std::vector<uint32_t> sources;
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk)
    sources.push_back(isGather ? sourceOf(demand, chunk) : targetOf(demand, chunk));
  uint64_t sends = 0;
  for (uint32_t rank : sources)
    sends += graph->hops[rank];
  if (sends > options.mostSends)
    throw std::length_error("the algorithm has more than " + std::to_string(options.mostSends) +
                            " sends, the most operations that gc3c accepts in a file");
  GatherSearch search(*graph, sources, options);
  const std::optional<Plan> plan = search.run(result.leastRounds);
  if (options.roundsPerStep == 1)
    result.leastRounds = search.least;
  result.leastSteps = search.leastSteps;
  if (!plan)
    return result;
  Algorithm found = sendsOf(*graph, towards, sources, plan->rounds, plan->loads);
  result.algorithm = withoutIdleRounds(towards, isGather ? found : reversed(found));
  assert(result.algorithm->totalRounds() <= found.totalRounds() && "the flow overloads no link");
  return result;
}

} // namespace gc3::flow
