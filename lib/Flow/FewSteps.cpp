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
      : layers(layers), before(layers.work()), rounds(rounds), stops(stops) {}

  /// Tries plans with this number of steps.
  std::optional<Plan> attempt(uint32_t steps) {
    constexpr int mostCuts = 40;
    isImpossible = false;
    Rounds choice(steps, rounds, layers.chunks());
    std::optional<Plan> found = start(choice);
    for (int i = 0; i < mostCuts && !found && !isOver(); ++i) {
      const std::optional<std::vector<uint32_t>> next = choice.find(stops);
      if (!next) {
        isImpossible = choice.isImpossible;
        break;
      }
      if (!test(*next, choice, found))
        break;
    }
    return found;
  }

  bool isOver() {
    constexpr uint64_t mostWork = 40'000'000; // arcs and visits of all networks together, some ten seconds
    return layers.work() - before > mostWork || (stops && stops());
  }

  bool isImpossible = false; ///< the last attempt failed because no plan exists

private:
  /// Tests rounds that grow in different ways. Makes the search start from those that bring most chunks to the root.
  std::optional<Plan> start(Rounds &choice) {
    std::optional<Plan> found;
    uint64_t most = 0;
    for (uint32_t growth = 0; growth < 3 && !found && !isOver(); ++growth) {
      std::vector<uint32_t> chosen = choice.growing(growth);
      test(chosen, choice, found);
      if (growth == 0 || delivered > most) {
        most = delivered;
        choice.startFrom(std::move(chosen));
      }
    }
    return found;
  }

  /// Tests rounds. Sets `found` if they suffice, else adds a cut to `choice`. Returns false if there is no cut.
  bool test(const std::vector<uint32_t> &of, Rounds &choice, std::optional<Plan> &found) {
    Attempt result = layers.attempt(of);
    delivered = result.delivered;
    if (result.loads)
      found = Plan{of, std::move(*result.loads)};
    else if (result.cut)
      choice.add(std::move(*result.cut));
    return result.loads || result.cut;
  }

  uint64_t delivered = 0; ///< chunks that the rounds of the latest test bring to the root
  Layers &layers;
  const uint64_t before; ///< work before this search
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
