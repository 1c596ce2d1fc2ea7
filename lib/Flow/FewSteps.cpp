// SPDX-License-Identifier: Apache-2.0
// Benders decomposition. A maximum flow decides whether given rounds of the steps suffice. If not, its minimum cut is a
// linear condition on these rounds, which excludes them and many others. The conditions determine the next rounds.
#include "FewSteps.h"
#include "Rounds.h"
#include <algorithm>

namespace gc3::flow {

namespace {

class StepSearch {
public:
  StepSearch(Layers &layers, uint32_t rounds, const std::function<bool()> &stops)
      : layers(layers), rounds(rounds), stops(stops) {}

  /// Tries plans with this number of steps.
  std::optional<Plan> attempt(uint32_t steps) {
    constexpr int mostCuts = 60;
    Rounds choice(steps, rounds, layers.chunks());
    for (int i = 0; i < mostCuts && !isOver(); ++i) {
      const std::optional<std::vector<uint32_t>> next = choice.find();
      if (!next) {
        isImpossible = choice.isImpossible;
        return {};
      }
      Attempt result = layers.attempt(*next);
      if (result.loads)
        return Plan{*next, std::move(*result.loads)};
      if (!result.cut)
        break;
      choice.add(std::move(*result.cut));
    }
    isImpossible = false;
    return {};
  }

  bool isOver() {
    constexpr uint64_t mostWork = 100'000'000; // arcs of all networks together, about half a minute
    return layers.work() > mostWork || (stops && stops());
  }

  bool isImpossible = false; ///< the last attempt failed because no plan exists

private:
  Layers &layers;
  const uint32_t rounds;
  const std::function<bool()> &stops;
};

} // namespace

FewSteps fewSteps(Layers &layers, uint32_t rounds, uint32_t least, uint32_t most, const std::function<bool()> &stops) {
  StepSearch search(layers, rounds, stops);
  FewSteps result;
  result.least = least;
  // A plan stays possible if a step is cut in two. So the numbers of steps grow until one succeeds; then the search
  // halves the interval between the last failure and the success.
  uint32_t failed = least - 1, steps = least;
  while (steps <= most && !search.isOver()) {
    if (std::optional<Plan> plan = search.attempt(steps)) {
      result.plan = std::move(plan);
      most = steps - 1;
    } else {
      failed = steps;
      if (search.isImpossible)
        result.least = std::max(result.least, steps + 1);
    }
    steps = result.plan ? failed + 1 + (most - failed) / 2 : std::max(failed + 1, least + 2 * (failed - least));
    if (!result.plan)
      steps = failed < most ? std::min(steps, most) : most + 1;
  }
  return result;
}

} // namespace gc3::flow
