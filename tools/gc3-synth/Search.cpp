// SPDX-License-Identifier: Apache-2.0
// Solves one instance, finds the fewest steps, runs a flow or the greedy search, or runs the Pareto procedure of the
// paper (algorithm 1). The Pareto procedure increases the number of steps. For each number it tries shapes with up to k
// more rounds than steps, and finds the most chunks for each shape. It ends when a result is bandwidth-optimal, or at
// the maximum number of steps.
#include "Search.h"
#include "gc3/Flow/Flow.h"
#include "gc3/Greedy/Greedy.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>

namespace gc3::synth {

namespace {

using Clock = std::chrono::steady_clock;

class Searcher {
public:
  Searcher(const topology::Topology &topology, const CommandLine &line, const std::atomic<bool> &interrupted,
           const std::function<void(const Trial &)> &report, std::string &error)
      : topology(topology), line(line), report(report), error(error) {
    options.seed = line.seed;
    options.interrupted = &interrupted;
    end = Clock::now() + std::chrono::seconds(line.timeLimit);
    options.deadline = end;
  }

  Result run() {
    unit = isCustom(line.collective) ? 1 : chunkUnit(line.collective, topology.ranks);
    std::optional<Task> first = task(line.chunks ? line.chunks : unit);
    if (!first)
      return {};
    bounds = first->least;
    chunksOfUnit = first->direct.chunks(); // used if --chunks is not given
    switch (line.goal) {
    case Goal::Instance: instance(*first); break;
    case Goal::LeastSteps: leastSteps(*first); break;
    case Goal::Pareto: pareto(); break;
    case Goal::FewRounds: fewRounds(*first); break;
    }
    result.mostSteps = mostSteps();
    result.isComplete = !isUnknown;
    return std::move(result);
  }

private:
  std::optional<Task> task(uint32_t chunks) const {
    return makeTask(topology, {line.collective, chunks, line.root, line.inPlace, [this] { return options.isOver(); }},
                    error);
  }

  uint32_t stride(const Task &task) const { return task.derivation == Task::Derivation::InverseThenDirect ? 2 : 1; }

  uint32_t mostSteps() const { return line.maxSteps ? line.maxSteps : std::max(1u, bounds.steps) + 10; }

  /// Tries a shape, for at most `share` of the total time. Returns whether the search can continue.
  bool attempt(const Task &task, Shape shape, double share) {
    const uint32_t parts = stride(task);
    if (isTooLarge(task.topology, task.direct, {shape.steps / parts, shape.rounds / parts})) {
      const uint64_t sends =
          static_cast<uint64_t>(task.direct.chunks()) * task.topology.linkCount() * (shape.steps / parts);
      error = task.name + " on " + task.topology.name + " in " + quantity(shape.steps, "step") +
              " is too large for the solver: chunks times links times steps are " + std::to_string(sends) +
              ", the limit is " + std::to_string(static_cast<uint64_t>(MaxSends));
      return false;
    }
    const Clock::time_point begin = Clock::now();
    const auto most =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(share * line.timeLimit));
    options.deadline = std::min(end, begin + most);
    Trial trial;
    trial.task = task, trial.shape = shape;
    Clock::time_point lastReport = begin;
    options.reportTry = [&](uint64_t tries) {
      if (Clock::now() - lastReport < std::chrono::seconds(line.progress))
        return;
      lastReport = Clock::now();
      trial.tries = tries;
      trial.seconds = std::chrono::duration<double>(lastReport - begin).count();
      report(trial);
    };
    trial.outcome = findBy(task, [&](const auto &on, const auto &demand) {
      return solve(on, demand, {shape.steps / parts, shape.rounds / parts}, options);
    });
    trial.tries.reset();
    options.reportTry = nullptr; // the function refers to this trial
    return conclude(std::move(trial), begin);
  }

  bool conclude(Trial trial, Clock::time_point begin) {
    trial.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (auto &found = trial.outcome.algorithm) {
      found = withoutIdleRounds(trial.task.topology, *found);
      trial.cost = {found->steps(), found->totalRounds()};
      if (const std::string wrong = findError(trial.task.topology, trial.task.demand, *trial.outcome.algorithm);
          !wrong.empty()) {
        error = "internal error: the algorithm found is wrong: " + wrong;
        return false;
      }
    }
    trial.least = trial.task.least;
    trial.least.atLeast = std::max(trial.least.atLeast, trial.flowRounds);
    isFound = trial.outcome.verdict == Verdict::Satisfiable;
    trial.fewestSteps = isFound && trial.cost.steps == trial.least.steps;
    trial.fewestRounds = isFound && trial.cost.rounds * trial.least.bandwidth == trial.least.crossing;
    isOptimal = isFound && trial.fewestRounds;
    if (isFound)
      result.found.push_back(result.trials.size());
    isUnknown |= trial.outcome.verdict == Verdict::Unknown;
    report(trial);
    result.trials.push_back(std::move(trial));
    options.deadline = end;
    if (line.goal != Goal::Instance && options.isOver())
      isUnknown = true; // further shapes were not tried
    return !options.isOver();
  }

  void instance(const Task &only) {
    if (!isShapeOf(only, {line.steps, line.rounds})) {
      error = "an allreduce is a reduce_scatter and an allgather: --steps and --rounds must be even";
      return;
    }
    attempt(only, {line.steps, line.rounds}, 1);
  }

  void fewRounds(const Task &only) {
    if (topology.ranks > greedy::MostRanks) {
      error = "the greedy search takes up to " + std::to_string(greedy::MostRanks) + " ranks, but '" + topology.name +
              "' has " + std::to_string(topology.ranks);
      return;
    }
    const Clock::time_point begin = Clock::now();
    Trial trial;
    trial.task = only, trial.isGreedy = true, trial.method = Method::Greedy;
    trial.outcome = findBy(only, [&](const auto &on, const auto &demand) {
      Outcome found;
      if (flow::applies(demand))
        found.algorithm = findByFlow(on, demand, trial);
      if (!found.algorithm || (line.roundsPerStep == 1 && found.algorithm->totalRounds() > trial.flowRounds))
        keepBetter(found.algorithm, findGreedily(on, demand, trial), trial);
      found.verdict = found.algorithm ? Verdict::Satisfiable : Verdict::Unknown;
      return found;
    });
    if (const auto &found = trial.outcome.algorithm) {
      trial.shape = {found->steps(), found->totalRounds()};
      raiseBound(trial);
      improveBySolver(trial);
    }
    conclude(std::move(trial), begin);
  }

  /// Lets the solver look for fewer rounds. Begins with the most rounds for which the instance is so small that this
  /// takes a moment.
  void improveBySolver(Trial &trial) {
    constexpr uint64_t mostSends = 7000; // chunks times links times steps
    const Task &task = trial.task;
    const uint32_t parts = stride(task);
    const uint64_t sendsOfStep = std::max<uint64_t>(1, uint64_t{task.direct.chunks()} * task.topology.linkCount());
    synth::Options limited = options;
    limited.maxConflicts = 60000; // some seconds
    while (line.roundsPerStep == 1 && trial.shape.rounds > std::max(task.least.rounds(), trial.flowRounds)) {
      const auto fewer =
          static_cast<uint32_t>(std::min<uint64_t>((trial.shape.rounds - 1) / parts, mostSends / sendsOfStep));
      if (fewer == 0 || fewer * parts < std::max(task.least.rounds(), trial.flowRounds))
        return;
      Outcome outcome = findBy(task, [&](const auto &on, const auto &demand) {
        return solve(on, demand, {fewer, fewer}, limited);
      });
      if (!outcome.algorithm) {
        // Steps of several rounds can carry more than steps of one round only if bounds cover several links.
        if (outcome.verdict == Verdict::Unsatisfiable && parts == 1 && task.topology.boundCount() == 0)
          trial.flowRounds = fewer + 1;
        return;
      }
      trial.outcome = std::move(outcome);
      trial.method = Method::Solver;
      trial.shape = {trial.outcome.algorithm->steps(), trial.outcome.algorithm->totalRounds()};
    }
  }

  /// Raises the lower bound of the rounds by flow if the algorithm found does not meet the bound. The bound of an
  /// Allreduce is the sum of those of its halves.
  void raiseBound(Trial &trial) {
    const Task &task = trial.task;
    const auto isOver = [this] { return options.isOver(); };
    if (trial.method == Method::Flow || trial.shape.rounds <= std::max<uint64_t>(task.least.rounds(), task.least.steps))
      return;
    const bool isDirect = task.derivation != Task::Derivation::Inverse,
               isInverse = task.derivation != Task::Derivation::Direct;
    uint64_t least = 0;
    for (bool inverse : {false, true})
      if (inverse ? isInverse : isDirect) {
        const topology::Topology on = inverse ? topology::reversed(task.topology) : task.topology;
        const Bounds known = lowerBounds(on, task.direct, isOver);
        least += flow::leastRounds(on, task.direct, std::max<uint64_t>(known.rounds(), known.steps), isOver);
      }
    trial.flowRounds = std::max(trial.flowRounds, least);
  }

  std::optional<algorithm::Algorithm> findByFlow(const topology::Topology &on, const algorithm::Demand &demand,
                                                 Trial &trial) {
    flow::Options flowOptions;
    flowOptions.roundsPerStep = line.roundsPerStep, flowOptions.mostSends = greedy::MostSends;
    const Clock::time_point half = Clock::now() + (end - Clock::now()) / 2; // leaves time for the greedy search
    flowOptions.stops = [this, half] { return options.isOver() || Clock::now() >= half; };
    flow::Result found = flow::search(on, demand, flowOptions);
    trial.flowRounds = found.leastRounds;
    trial.method = found.algorithm ? Method::Flow : Method::Greedy;
    return std::move(found.algorithm);
  }

  std::optional<algorithm::Algorithm> findGreedily(const topology::Topology &on, const algorithm::Demand &demand,
                                                   Trial &trial) {
    greedy::Options greedyOptions;
    greedyOptions.seed = line.seed, greedyOptions.tries = line.tries, greedyOptions.roundsPerStep = line.roundsPerStep;
    greedyOptions.stops = [this] { return options.isOver(); };
    uint64_t leastRounds = 0;
    greedyOptions.leastRounds = &leastRounds;
    std::optional<algorithm::Algorithm> found = greedy::search(on, demand, greedyOptions);
    trial.flowRounds = std::max(trial.flowRounds, leastRounds);
    return found;
  }

  /// Keeps the algorithm of the flow unless the greedy search's has fewer rounds.
  static void keepBetter(std::optional<algorithm::Algorithm> &best, std::optional<algorithm::Algorithm> other,
                         Trial &trial) {
    if (!other || (best && best->totalRounds() <= other->totalRounds()))
      return;
    best = std::move(other);
    trial.method = Method::Greedy;
  }

  /// Tries increasing numbers of steps until one has an algorithm. All smaller numbers are then excluded, unless a
  /// trial reached its share of the time.
  void leastSteps(const Task &only) {
    for (uint32_t steps = std::max(1u, bounds.steps); steps <= mostSteps(); steps += stride(only)) {
      const Shape shape = {steps, steps + line.extraRounds / stride(only) * stride(only)};
      if (!attempt(only, shape, 0.1))
        return;
      if (isFound)
        return;
    }
  }

  /// Tries `units` units of chunks. If several results have the same number of steps, keeps only the last, because each
  /// is better than the one before it. Returns whether the search can continue.
  bool attemptUnits(Shape shape, uint32_t units) {
    std::optional<Task> each = task(units * unit);
    if (!each) {
      isUnknown = true; // the time is up
      return false;
    }
    if (!attempt(*each, shape, 0.1))
      return false;
    if (!isFound)
      return true;
    best = static_cast<double>(result.trials.back().cost.rounds) / units;
    std::vector<size_t> &found = result.found;
    if (found.size() > 1 && result.trials[found[found.size() - 2]].shape.steps == shape.steps)
      found.erase(found.end() - 2);
    return true;
  }

  /// Finds the most chunks for which the shape has an algorithm. Tries only numbers that are better than the best
  /// result so far. First tries the largest number that the bound and the solver's limit allow. If that fails, tries
  /// increasing numbers until one has no algorithm. Larger numbers have none either, because an algorithm for more
  /// chunks contains one for fewer. Returns whether the search can continue.
  bool mostChunks(Shape shape) {
    const uint64_t bound = bounds.crossing ? shape.rounds * bounds.bandwidth / bounds.crossing : 1;
    const double sendsOfUnit = static_cast<double>(chunksOfUnit) * topology.linkCount() * shape.steps;
    const auto solvable = static_cast<uint64_t>(std::max(1.0, MaxSends / sendsOfUnit));
    const auto most =
        static_cast<uint32_t>(std::min({bound, solvable, uint64_t{isCustom(line.collective) ? 1u : 4096u}}));
    const uint32_t least = best > 0 ? static_cast<uint32_t>(shape.rounds / best + 1e-9) + 1 : 1;
    if (least > most)
      return true;
    bool canContinue = attemptUnits(shape, most);
    for (uint32_t units = least; canContinue && !isFound && units < most; ++units) {
      canContinue = attemptUnits(shape, units);
      if (!isFound)
        break;
      isFound = false; // try more chunks
    }
    return canContinue;
  }

  void pareto() {
    const uint32_t stride = line.collective == "allreduce" ? 2 : 1;
    for (uint32_t steps = std::max(1u, bounds.steps); steps <= mostSteps(); steps += stride)
      for (uint32_t rounds = steps; rounds <= steps + line.extraRounds; rounds += stride)
        if (!mostChunks({steps, rounds}) || isOptimal)
          return;
  }

  const topology::Topology &topology;
  const CommandLine &line;
  const std::function<void(const Trial &)> &report;
  std::string &error;
  Options options;
  Clock::time_point end;
  uint32_t unit = 1, chunksOfUnit = 1; ///< chunks per unit: as the user counts them, as the solver counts them
  Bounds bounds;                       ///< bounds for one unit of chunks
  double best = 0;                     ///< fewest rounds per unit that were found; 0: none yet
  bool isFound = false, isOptimal = false, isUnknown = false;
  Result result;
};

} // namespace

Result search(const topology::Topology &topology, const CommandLine &line, const std::atomic<bool> &interrupted,
              const std::function<void(const Trial &)> &report, std::string &error) {
  return Searcher(topology, line, interrupted, report, error).run();
}

} // namespace gc3::synth
