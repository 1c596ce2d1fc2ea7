// SPDX-License-Identifier: Apache-2.0
// Compares bounds and results of the solver with known ones: possible and impossible instances, symmetric instances,
// and pipelines.
#include "SolvePlainly.h"
#include "SplitSteps.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Topology/Families.h"
#include <gtest/gtest.h>
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

Verdict verdictOf(const topology::Topology &topology, const std::string &implements, Shape shape) {
  const algorithm::Demand demand = demandOf(implements);
  const Outcome outcome = solve(topology, demand, shape, {});
  if (outcome.algorithm) {
    EXPECT_EQ(findError(topology, demand, *outcome.algorithm), "");
    EXPECT_EQ(outcome.algorithm->steps(), shape.steps);
    EXPECT_LE(outcome.algorithm->totalRounds(), shape.rounds);
  }
  return outcome.verdict;
}

} // namespace

TEST(Bounds, OfDgx1AreThoseOfThePaper) {
  const topology::Topology dgx1 = make("dgx1");
  const Bounds allgather = lowerBounds(dgx1, demandOf("allgather(ranks = 8, chunks = 6)"));
  EXPECT_EQ(allgather.steps, 2u);
  EXPECT_EQ(allgather.rounds(), 7u); // 7 rounds for 6 chunks per rank
  const Bounds alltoall = lowerBounds(dgx1, demandOf("alltoall(ranks = 8, chunks = 3)"));
  EXPECT_EQ(alltoall.steps, 2u);
  EXPECT_EQ(alltoall.rounds(), 8u); // 8 rounds for 24 chunks per rank
  EXPECT_EQ(lowerBounds(dgx1, demandOf("broadcast(ranks = 8, chunks = 6)")).rounds(), 1u);
}

TEST(Bounds, KnowSwitches) {
  // Each rank receives 30 chunks (2 from each of 15 ranks) over its 6 links to the switch. No link is reserved for a
  // pair of ranks.
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

TEST(Symmetry, OfDgx1HasFourMembers) {
  const topology::Topology dgx1 = make("dgx1");
  const algorithm::Demand demand = demandOf("allgather(ranks = 8, chunks = 2)");
  const std::vector<Automorphism> group = freeGroup(dgx1, demand);
  ASSERT_EQ(group.size(), 2u);
  const Symmetry symmetry = orbits(dgx1, demand, group, 2, 1);
  const std::set<uint32_t> chunks(symmetry.chunk.begin(), symmetry.chunk.end());
  EXPECT_EQ(chunks.size(), 4u); // 16 chunks form 4 orbits
  EXPECT_EQ(solvePlainly(dgx1, demand, symmetry, {2, 3}).verdict, Verdict::Satisfiable);
  // The root of a Broadcast differs from all other ranks, so no symmetry is left.
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
  EXPECT_EQ(solvePlainly(line, demand, orbits(line, demand, {}, 0, 5), {7, 7}).verdict, Verdict::Satisfiable);
  EXPECT_EQ(solvePlainly(line, demand, orbits(line, demand, {}, 0, 5), {6, 6}).verdict, Verdict::Unsatisfiable);
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
    EXPECT_EQ(findError(dgx1, demand, *more), "");
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
