// SPDX-License-Identifier: Apache-2.0
// Finds an algorithm of a shape, or shows that there is none. The time that a solver takes on an instance varies over
// orders of magnitude with its seed, so tries are short at first and become longer. The kinds of tries differ in two
// ways. Some search only the algorithms that a group of automorphisms leaves unchanged, which need fewer variables;
// others search all algorithms. Some search algorithms with fewer steps, whose rounds can be split into more steps;
// others use the requested number of steps. Only a try with all steps and without a group can show that there is no
// algorithm.
#include "Encoding.h"
#include "SplitSteps.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>

namespace gc3::synth {

bool Options::isOver() const {
  return (interrupted && interrupted->load()) || std::chrono::steady_clock::now() >= deadline;
}

namespace {

/// A kind of try: the number of steps, and the index of the symmetry that the algorithm must have.
struct Attempt {
  uint32_t steps;
  size_t symmetry;
  bool isRefuted = false;
};

class Search {
public:
  Search(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape, const Bounds &bounds,
         const Options &options)
      : topology(topology), demand(demand), shape(shape), options(options),
        full(fullLinks(topology, demand, shape.rounds, [&options] { return options.isOver(); })) {
    const std::vector<Automorphism> group = freeGroup(topology, demand);
    for (size_t generators = 0; generators <= group.size(); ++generators)
      symmetries.push_back(orbits(topology, demand, group, generators, 1));
    if (shape.rounds > bounds.rounds()) // waves need more rounds, because they leave links idle at the beginning and at
                                        // the end
      for (uint32_t waves = shape.steps; waves > 1; --waves)
        if (dividesClasses(waves) && shape.steps >= bounds.steps + waves - 1) {
          attempts.push_back({shape.steps, symmetries.size()});
          symmetries.push_back(orbits(topology, demand, group, group.size(), waves));
        }
    for (uint32_t steps = std::max(1u, bounds.steps); steps < shape.steps; ++steps)
      attempts.push_back({steps, group.size()});
    for (size_t generators = group.size() + 1; generators-- > 0;)
      attempts.push_back({shape.steps, generators});
  }

  Outcome run() {
    constexpr uint32_t firstConflicts = 1000, triesOfEachLength = 2;
    uint32_t conflicts = firstConflicts;
    uint64_t tries = 0, spent = 0;
    for (uint32_t round = 0;; ++round) {
      for (Attempt &attempt : attempts) {
        if (attempt.isRefuted)
          continue;
        if (options.isOver() || spent >= options.maxConflicts)
          return {};
        spent += conflicts;
        if (options.reportTry)
          options.reportTry(tries++);
        Outcome outcome = tryOnce(attempt, options.seed + round, conflicts);
        if (outcome.verdict != Verdict::Unknown)
          return outcome;
      }
      if ((round + 1) % triesOfEachLength == 0 && conflicts < Solver::NoLimit / 2)
        conflicts *= 2;
    }
  }

private:
  Outcome tryOnce(Attempt &attempt, uint32_t seed, uint32_t conflicts) {
    const std::unique_ptr<Solver> solver = makeSolver(seed, options);
    const Encoding encoding(topology, demand, symmetries[attempt.symmetry], {attempt.steps, shape.rounds}, full,
                            options, *solver);
    if (!encoding.isComplete())
      return {};
    const Verdict verdict = encoding.isPossible() ? solver->solve(conflicts) : Verdict::Unsatisfiable;
    if (verdict == Verdict::Satisfiable)
      return accept(withoutIdleCopies(topology, demand, encoding.decode()));
    if (verdict == Verdict::Unknown)
      return {};
    attempt.isRefuted = true;
    return attempt.steps == shape.steps && attempt.symmetry == 0 ? Outcome{Verdict::Unsatisfiable, {}} : Outcome();
  }

  bool dividesClasses(uint32_t waves) const {
    return llvm::all_of(chunkClasses(demand), [&](const auto &each) { return each.second.size() % waves == 0; });
  }

  Outcome accept(const algorithm::Algorithm &found) {
    std::optional<algorithm::Algorithm> split = splitSteps(topology, found, shape);
    if (!split)
      return {}; // a bound over several links prevents the split
    assert(algorithm::findError(topology, demand, *split).empty());
    return {Verdict::Satisfiable, std::move(split)};
  }

  const topology::Topology &topology;
  const algorithm::Demand &demand;
  const Shape shape;
  const Options &options;
  const std::vector<uint8_t> full;
  std::vector<Symmetry> symmetries; ///< first the trivial symmetry, then the symmetries of larger and larger groups,
                                    ///< then those with waves
  std::vector<Attempt> attempts;
};

} // namespace

bool isTooLarge(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape) {
  return static_cast<double>(demand.chunks()) * topology.linkCount() * shape.steps > MaxSends;
}

Outcome solve(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape,
              const Options &options) {
  assert(!demand.combines() && shape.steps > 0 && !isTooLarge(topology, demand, shape));
  const Bounds bounds = lowerBounds(topology, demand, [&options] { return options.isOver(); });
  if (shape.steps > shape.rounds || shape.steps < bounds.steps || shape.rounds < bounds.rounds())
    return {Verdict::Unsatisfiable, {}};
  return Search(topology, demand, shape, bounds, options).run();
}

} // namespace gc3::synth
