// SPDX-License-Identifier: Apache-2.0
// The encoding against what is known: bounds, instances that there are and are not, symmetric ones, waves, and random
// small topologies, where every answer is compared with that of a search without a solver.
#include "Encoding.h"
#include "SplitSteps.h"
#include "Symmetry.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Synth/Synthesis.h"
#include "gc3/Topology/Families.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace gc3;
using namespace gc3::synth;

namespace {

topology::Topology make(const std::string &name) {
  std::string error;
  return topology::named(name, error).value();
}

algorithm::Demand demandOf(const std::string &implements) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::string error;
  return algorithm::demandOf(
             sema::analyzeCollective(sources, diags, "-", "program p implements " + implements + " { }", {}).value(),
             error)
      .value();
}

/// Without tries of any other kind.
Verdict solvePlainly(const topology::Topology &topology, const algorithm::Demand &demand, const Symmetry &symmetry,
                     Shape shape) {
  const Options options;
  const std::unique_ptr<Solver> solver = makeSolver(0, options);
  const Encoding encoding(topology, demand, symmetry, shape, fullLinks(topology, demand, shape.rounds), options,
                          *solver);
  if (!encoding.isPossible())
    return Verdict::Unsatisfiable;
  const Verdict verdict = solver->solve(Solver::NoLimit);
  if (verdict == Verdict::Satisfiable) {
    const algorithm::Algorithm found = withoutIdleCopies(topology, demand, encoding.decode());
    EXPECT_EQ(whyWrong(topology, demand, found), "");
    EXPECT_EQ(found.steps(), shape.steps);
    EXPECT_LE(found.totalRounds(), shape.rounds);
  }
  return verdict;
}

Verdict verdictOf(const topology::Topology &topology, const std::string &implements, Shape shape) {
  const algorithm::Demand demand = demandOf(implements);
  const Outcome outcome = solve(topology, demand, shape, {});
  if (outcome.algorithm) {
    EXPECT_EQ(whyWrong(topology, demand, *outcome.algorithm), "");
    EXPECT_EQ(outcome.algorithm->steps(), shape.steps);
    EXPECT_LE(outcome.algorithm->totalRounds(), shape.rounds);
  }
  return outcome.verdict;
}

/// Whether a single chunk per rank can be gathered in `steps` steps of one round, by trying all ways to use the links.
class Exhaustive {
public:
  Exhaustive(const topology::Topology &topology, uint32_t steps) : topology(topology), steps(steps) {}

  bool allgathers() {
    std::vector<uint32_t> have;
    for (uint32_t rank = 0; rank < topology.ranks; ++rank)
      have.push_back(1u << rank);
    return go(have, have, 0, 0);
  }

private:
  /// `have` at the beginning of the step, `next` at its end so far: sets of chunks by rank.
  bool go(const std::vector<uint32_t> &have, const std::vector<uint32_t> &next, uint32_t link, uint32_t step) {
    const uint32_t all = (1u << topology.ranks) - 1;
    if (link == topology.linkCount()) {
      if (std::all_of(next.begin(), next.end(), [&](uint32_t set) { return set == all; }))
        return true;
      return step + 1 < steps && seen.insert({step, next}).second && go(next, next, 0, step + 1);
    }
    const topology::Link &over = topology.links[link];
    const uint32_t useful = have[over.from] & ~next[over.to];
    for (uint32_t chunk = 0; chunk < topology.ranks; ++chunk) {
      if (!(useful >> chunk & 1))
        continue;
      std::vector<uint32_t> then = next;
      then[over.to] |= 1u << chunk;
      if (go(have, then, link + 1, step))
        return true;
    }
    return useful == 0 && go(have, next, link + 1, step); // a link that could be of use is of use
  }

  const topology::Topology &topology;
  const uint32_t steps;
  std::set<std::pair<uint32_t, std::vector<uint32_t>>> seen;
};

} // namespace

TEST(Bounds, OfDgx1AreThoseOfThePaper) {
  const topology::Topology dgx1 = make("dgx1");
  const Bounds allgather = lowerBounds(dgx1, demandOf("allgather(ranks = 8, chunks = 6)"));
  EXPECT_EQ(allgather.steps, 2u);
  EXPECT_EQ(allgather.rounds(), 7u); // 7/6 a chunk
  const Bounds alltoall = lowerBounds(dgx1, demandOf("alltoall(ranks = 8, chunks = 3)"));
  EXPECT_EQ(alltoall.steps, 2u);
  EXPECT_EQ(alltoall.rounds(), 8u); // 1/3 a chunk of 24
  EXPECT_EQ(lowerBounds(dgx1, demandOf("broadcast(ranks = 8, chunks = 6)")).rounds(), 1u);
}

TEST(Bounds, KnowSwitches) {
  // 15 chunks come to each rank over its 6 links to the switch, whatever there are of pairs.
  const Bounds bounds = lowerBounds(make("dgx2"), demandOf("allgather(ranks = 16, chunks = 2)"));
  EXPECT_EQ(bounds.steps, 1u);
  EXPECT_EQ(bounds.crossing, 5u);
  EXPECT_EQ(bounds.bandwidth, 1u);
}

TEST(Solve, TellsWhatThereIsFromWhatThereIsNot) {
  const topology::Topology dgx1 = make("dgx1");
  EXPECT_EQ(verdictOf(dgx1, "allgather(ranks = 8, chunks = 1)", {2, 2}), Verdict::Satisfiable);
  EXPECT_EQ(verdictOf(dgx1, "allgather(ranks = 8, chunks = 2)", {2, 3}), Verdict::Satisfiable);
  EXPECT_EQ(verdictOf(dgx1, "allgather(ranks = 8, chunks = 2)", {2, 2}), Verdict::Unsatisfiable);
  EXPECT_EQ(verdictOf(dgx1, "allgather(ranks = 8, chunks = 1)", {1, 9}), Verdict::Unsatisfiable);
  EXPECT_EQ(verdictOf(dgx1, "broadcast(ranks = 8, chunks = 2)", {2, 2}), Verdict::Satisfiable);
  EXPECT_EQ(verdictOf(dgx1, "broadcast(ranks = 8, chunks = 3)", {2, 2}), Verdict::Unsatisfiable);
  EXPECT_EQ(verdictOf(dgx1, "alltoall(ranks = 8, chunks = 3)", {8, 8}), Verdict::Satisfiable);
}

TEST(Solve, SaysUnknownWhenTheTimeIsUp) {
  Options options;
  options.deadline = std::chrono::steady_clock::now();
  const algorithm::Demand demand = demandOf("allgather(ranks = 8, chunks = 6)");
  EXPECT_EQ(solve(make("dgx1"), demand, {7, 7}, options).verdict, Verdict::Unknown);
  const std::atomic<bool> interrupted{true};
  Options stopped;
  stopped.interrupted = &interrupted;
  EXPECT_EQ(solve(make("dgx1"), demand, {7, 7}, stopped).verdict, Verdict::Unknown);
}

TEST(Solve, FindsTheSameAgain) {
  const algorithm::Demand demand = demandOf("allgather(ranks = 8, chunks = 2)");
  const Outcome first = solve(make("dgx1"), demand, {3, 3}, {}), second = solve(make("dgx1"), demand, {3, 3}, {});
  ASSERT_TRUE(first.algorithm && second.algorithm);
  ASSERT_EQ(first.algorithm->sends.size(), second.algorithm->sends.size());
  for (size_t i = 0; i < first.algorithm->sends.size(); ++i)
    EXPECT_TRUE(first.algorithm->sends[i].chunk == second.algorithm->sends[i].chunk &&
                first.algorithm->sends[i].link == second.algorithm->sends[i].link);
}

TEST(Encoding, AgreesWithASearchWithoutSolver) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  uint32_t possible = 0, impossible = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    topology::Topology topology;
    topology.ranks = 3 + below(3);
    for (uint32_t rank = 0; rank < topology.ranks; ++rank) // connected by a ring
      topology.links.push_back({.from = rank, .to = (rank + 1) % topology.ranks});
    for (uint32_t more = below(4); more > 0; --more) {
      const uint32_t from = below(topology.ranks);
      topology.links.push_back({.from = from, .to = (from + 1 + below(topology.ranks - 1)) % topology.ranks});
    }
    const std::string collective = "allgather(ranks = " + std::to_string(topology.ranks) + ", chunks = 1)";
    const algorithm::Demand demand = demandOf(collective);
    for (uint32_t steps = 1; steps < topology.ranks; ++steps) {
      const bool expected = Exhaustive(topology, steps).allgathers();
      (expected ? possible : impossible) += 1;
      const Verdict verdict = expected ? Verdict::Satisfiable : Verdict::Unsatisfiable;
      const Symmetry none = orbits(topology, demand, {}, 0, 1);
      EXPECT_EQ(solvePlainly(topology, demand, none, {steps, steps}), verdict) << round << " " << steps;
      EXPECT_EQ(verdictOf(topology, collective, {steps, steps}), verdict) << round << " " << steps;
    }
  }
  EXPECT_GT(possible, 20u);
  EXPECT_GT(impossible, 20u);
}

TEST(Symmetry, OfDgx1HasFourMembers) {
  const topology::Topology dgx1 = make("dgx1");
  const algorithm::Demand demand = demandOf("allgather(ranks = 8, chunks = 2)");
  const std::vector<Automorphism> group = freeGroup(dgx1, demand);
  ASSERT_EQ(group.size(), 2u);
  const Symmetry symmetry = orbits(dgx1, demand, group, 2, 1);
  const std::set<uint32_t> chunks(symmetry.chunk.begin(), symmetry.chunk.end());
  EXPECT_EQ(chunks.size(), 4u); // of 16
  EXPECT_EQ(solvePlainly(dgx1, demand, symmetry, {2, 3}), Verdict::Satisfiable);
  // A root is unlike all other ranks.
  EXPECT_TRUE(freeGroup(dgx1, demandOf("broadcast(ranks = 8)")).empty());
}

TEST(Symmetry, MapsTopologyAndDemandOnThemselves) {
  for (const char *name : {"dgx1", "ring:6", "torus:3x4", "dgx-a100", "2*dgx1", "hypercube:3", "full:5"}) {
    const topology::Topology topology = make(name);
    const algorithm::Demand demand = demandOf("alltoall(ranks = " + std::to_string(topology.ranks) + ", chunks = 2)");
    const std::vector<Automorphism> group = freeGroup(topology, demand);
    EXPECT_FALSE(group.empty()) << name;
    for (const Automorphism &map : group) {
      for (uint32_t i = 0; i < topology.linkCount(); ++i) {
        const topology::Link &link = topology.links[i], &image = topology.links[map.links[i]];
        EXPECT_TRUE(image.from == map.ranks[link.from] && image.to == map.ranks[link.to] &&
                    image.bandwidth == link.bandwidth);
      }
      for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
        EXPECT_EQ(demand.sourcesOf(map.chunks[chunk])[0].rank, map.ranks[demand.sourcesOf(chunk)[0].rank]);
        EXPECT_EQ(demand.targetsOf(map.chunks[chunk])[0].rank, map.ranks[demand.targetsOf(chunk)[0].rank]);
      }
      for (const auto &images : {map.ranks, map.links, map.bounds, map.chunks})
        EXPECT_EQ(std::set<uint32_t>(images.begin(), images.end()).size(), images.size());
    }
  }
}

TEST(Symmetry, WavesArePipelines) {
  const topology::Topology line = make("line:4");
  const algorithm::Demand demand = demandOf("broadcast(ranks = 4, chunks = 5)");
  EXPECT_EQ(solvePlainly(line, demand, orbits(line, demand, {}, 0, 5), {7, 7}), Verdict::Satisfiable);
  EXPECT_EQ(solvePlainly(line, demand, orbits(line, demand, {}, 0, 5), {6, 6}), Verdict::Unsatisfiable);
}

TEST(SplitSteps, MakesRoundsSteps) {
  const topology::Topology dgx1 = make("dgx1");
  const algorithm::Demand demand = demandOf("alltoall(ranks = 8, chunks = 3)");
  const Outcome two = solve(dgx1, demand, {2, 8}, {});
  ASSERT_TRUE(two.algorithm);
  for (uint32_t steps = 2; steps <= 9; ++steps) {
    const std::optional<algorithm::Algorithm> more = splitSteps(dgx1, *two.algorithm, {steps, std::max(steps, 8u)});
    ASSERT_TRUE(more);
    EXPECT_EQ(more->steps(), steps);
    EXPECT_EQ(whyWrong(dgx1, demand, *more), "");
  }
}

TEST(TwinLinks, AreThereBothWays) {
  for (const char *name : {"dgx1", "dgx2", "2*dgx1", "line:3"}) {
    const topology::Topology topology = make(name);
    const std::optional<std::vector<uint32_t>> twins = twinLinks(topology);
    ASSERT_TRUE(twins) << name;
    for (uint32_t i = 0; i < topology.linkCount(); ++i)
      EXPECT_TRUE(topology.links[(*twins)[i]].from == topology.links[i].to &&
                  topology.links[(*twins)[i]].to == topology.links[i].from);
  }
  topology::Topology oneWay = make("ring:4");
  oneWay.links.resize(7);
  EXPECT_FALSE(twinLinks(oneWay));
}
