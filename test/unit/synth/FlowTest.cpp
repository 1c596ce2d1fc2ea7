// SPDX-License-Identifier: Apache-2.0
// Tests the algorithms for Gather and Scatter that flow finds. An exhaustive search and the solver check that no
// algorithm has fewer rounds.
#include "gc3/Flow/Flow.h"
#include "BruteForce.h"
#include "Layers.h"
#include "Problem.h"
#include "gc3/Algorithm/Bounds.h"
#include "gc3/Synth/Synthesis.h"
#include <random>

using namespace gc3;
using namespace gc3::algorithm;

namespace {

class Dice {
public:
  explicit Dice(uint32_t seed) : engine(seed) {}
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }

private:
  std::mt19937 engine;
};

std::string rooted(const std::string &name, uint32_t ranks, uint32_t root, uint32_t chunks) {
  return name + "(ranks = " + std::to_string(ranks) + ", root = " + std::to_string(root) +
         ", chunks = " + std::to_string(chunks) + ", inplace = inplace)";
}

/// Returns a one-way ring with some additional links. Links have bandwidths of 1, 2 or 5.
topology::Topology oneWay(Dice &dice, uint32_t ranks, uint32_t more) {
  constexpr uint32_t bandwidths[] = {1, 2, 5};
  topology::Topology topology;
  topology.name = "one-way";
  topology.ranks = ranks;
  const auto add = [&](uint32_t from, uint32_t to) {
    topology.links.push_back({.from = from, .to = to, .bandwidth = bandwidths[dice.below(3)]});
  };
  for (uint32_t rank = 0; rank < ranks; ++rank)
    add(rank, (rank + 1) % ranks);
  for (; more > 0; --more)
    if (const uint32_t from = dice.below(ranks), to = dice.below(ranks); from != to)
      add(from, to);
  return topology;
}

/// Adds a bound on the links of some ranks, as a switch has, and a second one on some of these links.
void addSwitch(Dice &dice, topology::Topology &topology) {
  for (const topology::LinksOfRanks &side : {linksFrom(topology), linksTo(topology)})
    for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
      std::vector<uint32_t> links(side.links.begin() + side.begin[rank], side.links.begin() + side.begin[rank + 1]);
      if (links.size() > 1 && dice.below(2) == 0) {
        topology.addBound(links, 1 + dice.below(4));
        links.pop_back();
        topology.addBound(links, 1 + dice.below(3));
      }
    }
}

/// Adds a bound on any links.
void addShared(Dice &dice, topology::Topology &topology) {
  std::vector<uint32_t> links;
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    if (dice.below(2) == 0)
      links.push_back(link);
  if (!links.empty())
    topology.addBound(links, 1 + dice.below(3));
}

Problem problemOn(const topology::Topology &topology, const std::string &collective, uint32_t root, uint32_t chunks) {
  Problem problem("line:" + std::to_string(topology.ranks), rooted(collective, topology.ranks, root, chunks));
  problem.topology = topology;
  return problem;
}

/// Runs the search and checks its result.
flow::Result resultOf(const Problem &problem, const flow::Options &options = {}) {
  EXPECT_TRUE(flow::applies(problem.demand));
  flow::Result result = flow::search(problem.topology, problem.demand, options);
  if (!result.algorithm) {
    ADD_FAILURE() << "nothing was found";
    result.algorithm = Algorithm();
  }
  EXPECT_EQ(problem.findError(*result.algorithm), "");
  EXPECT_LE(result.leastRounds, result.algorithm->totalRounds());
  EXPECT_LE(lowerBounds(problem.topology, problem.demand).rounds(), result.leastRounds);
  EXPECT_EQ(complaints(problem.program(*result.algorithm)), "");
  return result;
}

/// On links of any bandwidths, and on switches, no algorithm has fewer rounds, or fewer steps for these rounds. An
/// algorithm of fewer rounds could have one round in each step.
TEST(Flow, IsExact) {
  Dice dice(3);
  uint32_t checkedRounds = 0, checkedSteps = 0;
  for (int i = 0; i < 150; ++i) {
    const uint32_t ranks = 2 + dice.below(3);
    topology::Topology topology = oneWay(dice, ranks, dice.below(5));
    if (i % 2 == 0)
      addSwitch(dice, topology);
    const Problem problem =
        problemOn(topology, i % 3 == 0 ? "scatter" : "gather", dice.below(ranks), 1 + dice.below(ranks == 4 ? 2 : 4));
    const flow::Result result = resultOf(problem);
    const uint32_t rounds = result.algorithm->totalRounds(), steps = result.algorithm->steps();
    EXPECT_EQ(rounds, result.leastRounds) << i;
    EXPECT_EQ(steps, result.leastSteps) << i;
    synth::BruteForce all(problem.topology, problem.demand);
    if (rounds > 1 && rounds < 6) {
      EXPECT_FALSE(all.isPossible(rounds - 1, rounds - 1)) << i;
      ++checkedRounds;
    }
    if (steps > 1 && rounds < 7) {
      EXPECT_FALSE(all.isPossible(steps - 1, rounds)) << i;
      ++checkedSteps;
    }
  }
  EXPECT_GT(checkedRounds, 80u);
  EXPECT_GT(checkedSteps, 80u);
}

/// Two switches connect all ranks, and limit what a rank sends, what it receives, or both, separately.
TEST(Flow, IsExactWithTwoSwitches) {
  Dice dice(11);
  for (int i = 0; i < 60; ++i) {
    topology::Topology topology;
    topology.name = "planes";
    topology.ranks = 3 + dice.below(5);
    for (uint32_t plane = 0; plane < 2; ++plane) {
      const uint32_t first = topology.linkCount();
      for (uint32_t from = 0; from < topology.ranks; ++from)
        for (uint32_t to = 0; to < topology.ranks; ++to)
          if (from != to)
            topology.links.push_back({.from = from, .to = to, .bandwidth = 4});
      std::vector<uint32_t topology::Link::*> limited{&topology::Link::from, &topology::Link::to};
      if (i % 3 != 0)
        limited.erase(limited.begin() + i % 3 - 1);
      for (uint32_t topology::Link::*end : limited)
        for (uint32_t rank = 0; rank < topology.ranks; ++rank) {
          std::vector<uint32_t> links;
          for (uint32_t link = first; link < topology.linkCount(); ++link)
            if (topology.links[link].*end == rank)
              links.push_back(link);
          topology.addBound(links, 1 + dice.below(3));
        }
    }
    const Problem problem = problemOn(topology, i % 2 == 0 ? "scatter" : "gather", dice.below(topology.ranks), 3);
    const flow::Result result = resultOf(problem);
    EXPECT_EQ(result.algorithm->totalRounds(), result.leastRounds) << i;
    flow::Options options;
    options.roundsPerStep = 2;
    const flow::Result ofTwo = resultOf(problem, options);
    EXPECT_LE(ofTwo.algorithm->totalRounds(), 2 * ofTwo.algorithm->steps()) << i;
  }
}

/// With bounds over links of several ranks, the lower bound is still valid. Most results have the fewest rounds.
TEST(Flow, DividesSharedBounds) {
  Dice dice(7);
  uint32_t reached = 0;
  for (int i = 0; i < 150; ++i) {
    const uint32_t ranks = 3 + dice.below(2);
    topology::Topology topology = oneWay(dice, ranks, dice.below(4));
    addShared(dice, topology);
    addShared(dice, topology);
    const Problem problem = problemOn(topology, i % 2 == 0 ? "scatter" : "gather", dice.below(ranks), 1);
    const flow::Result result = resultOf(problem);
    synth::BruteForce all(problem.topology, problem.demand);
    uint32_t least = 0;
    for (bool found = false; !found;) {
      ++least;
      for (uint32_t steps = 1; steps <= least && !found; ++steps)
        found = all.isPossible(steps, least);
    }
    EXPECT_LE(result.leastRounds, least) << i;
    EXPECT_LE(result.algorithm->totalRounds(), least + 1) << i;
    reached += result.algorithm->totalRounds() == least;
  }
  EXPECT_GE(reached, 140u);
}

/// The solver agrees on topologies that are too large for the exhaustive search.
TEST(Flow, AgreesWithTheSolver) {
  Dice dice(11);
  for (int i = 0; i < 12; ++i) {
    const uint32_t ranks = 6 + dice.below(3);
    topology::Topology topology = oneWay(dice, ranks, ranks);
    addSwitch(dice, topology);
    const Problem problem = problemOn(topology, "gather", dice.below(ranks), 1);
    const auto rounds = static_cast<uint32_t>(resultOf(problem).leastRounds);
    if (rounds > 1) {
      EXPECT_EQ(synth::solve(topology, problem.demand, {rounds - 1, rounds - 1}, {}).verdict,
                synth::Verdict::Unsatisfiable)
          << i;
    }
  }
}

/// Named topologies, among them machines whose network cards serve two ranks each.
TEST(Flow, NamedTopologies) {
  for (const char *name : {"ring:7", "line:5", "mesh:4x5", "torus:3x4", "hypercube:4", "star:6", "full:5", "dgx1",
                           "dgx2", "dgx-a100", "2*dgx1", "4*dgx1", "2*dgx2", "3*dgx-h100", "4*ring:4"}) {
    std::string error;
    const uint32_t ranks = topology::named(name, error).value().ranks;
    for (const char *collective : {"gather", "scatter"})
      for (uint32_t chunks : {1, 3}) {
        const flow::Result result = resultOf(Problem(name, rooted(collective, ranks, ranks / 3, chunks)));
        const uint64_t excess = std::string(name).find("*dgx1") != std::string::npos ? 1 : 0;
        EXPECT_LE(result.algorithm->totalRounds(), result.leastRounds + excess) << name << " " << collective;
      }
  }
}

/// The shortest path from rank 1 to rank 0 is a thin link. A longer path has more bandwidth.
TEST(Flow, AvoidsThinLinks) {
  topology::Topology topology;
  topology.ranks = 4;
  topology.links = {{.from = 1, .to = 0},
                    {.from = 1, .to = 2, .bandwidth = 4},
                    {.from = 2, .to = 3, .bandwidth = 4},
                    {.from = 3, .to = 0, .bandwidth = 4},
                    {.from = 0, .to = 1}};
  const flow::Result result = resultOf(problemOn(topology, "gather", 0, 6));
  EXPECT_EQ(result.algorithm->totalRounds(), 4u);
  EXPECT_EQ(result.leastRounds, 4u);
}

/// The bound for any demand is valid.
TEST(Flow, BoundsOtherCollectives) {
  Dice dice(13);
  for (int i = 0; i < 60; ++i) {
    const uint32_t ranks = 3 + dice.below(2);
    topology::Topology topology = oneWay(dice, ranks, dice.below(4));
    if (i % 2 == 0)
      addShared(dice, topology);
    Problem problem("line:" + std::to_string(ranks),
                    "allgather(ranks = " + std::to_string(ranks) + ", chunks = 1, inplace = inplace)");
    problem.topology = topology;
    const Bounds bounds = lowerBounds(topology, problem.demand);
    const uint64_t before = std::max<uint64_t>(bounds.rounds(), bounds.steps);
    const auto least = static_cast<uint32_t>(flow::leastRounds(topology, problem.demand, before, {}));
    synth::BruteForce all(topology, problem.demand);
    for (uint32_t steps = 1; steps < least && least < 6; ++steps)
      EXPECT_FALSE(all.isPossible(steps, least - 1)) << i;
  }
}

/// The time of the way from machine to machine, and the time to copy a chunk, count for the bound.
TEST(Flow, RaisesTheBoundOfOtherCollectives) {
  const Problem gather("4*dgx-h100", "allgather(ranks = 32, chunks = 1, inplace = inplace)");
  EXPECT_EQ(flow::leastRounds(gather.topology, gather.demand, 2, {}), 3u);
  const Problem broadcast("dgx2", rooted("broadcast", 16, 0, 1));
  EXPECT_EQ(flow::leastRounds(broadcast.topology, broadcast.demand, 1, {}), 2u) << "a rank sends six chunks in a round";
}

/// With many chunks, a network of single rounds would take gigabytes. Few steps suffice.
TEST(Flow, ManyChunks) {
  for (const auto &[name, ranks, chunks, rounds] :
       {std::tuple("star:65", 65, 2000, 64 * 2000), std::tuple("star:9", 9, 65536, 8 * 65536)})
    for (const char *collective : {"gather", "scatter"}) {
      const Problem problem(name, rooted(collective, static_cast<uint32_t>(ranks), 1, static_cast<uint32_t>(chunks)));
      const flow::Result result = flow::search(problem.topology, problem.demand, {});
      ASSERT_TRUE(result.algorithm);
      EXPECT_EQ(problem.findError(*result.algorithm), "");
      EXPECT_EQ(result.leastRounds, result.algorithm->totalRounds());
      EXPECT_EQ(result.algorithm->totalRounds(), static_cast<uint32_t>(rounds));
      EXPECT_LE(result.algorithm->steps(), 3u);
    }
}

/// Bounds that overlap in every way are divided in linear time. Nearly all of their shares are single links.
TEST(Flow, ManyOverlappingBounds) {
  Dice dice(17);
  topology::Topology topology;
  topology.ranks = 100;
  for (uint32_t from = 0; from < 100; ++from)
    for (uint32_t to = 0; to < 100; ++to)
      if (from != to)
        topology.links.push_back({.from = from, .to = to});
  for (uint32_t bound = 0; bound < 100; ++bound) {
    std::vector<uint32_t> links;
    for (uint32_t link = 0; link < topology.linkCount(); ++link)
      if (dice.below(2) == 0)
        links.push_back(link);
    topology.addBound(links, 9);
  }
  const std::optional<flow::StepGraph> graph = flow::makeStepGraph(topology, 0);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->dividedBandwidth, std::vector<uint32_t>(100, 9));
  EXPECT_GT(graph->boundOfShare.size(), 480'000u);
}

/// The memory of a network is limited. A step on this topology needs about 190 arcs.
TEST(Flow, NetworksAreLimited) {
  const Problem problem("star:65", rooted("gather", 65, 1, 1));
  const std::optional<flow::StepGraph> graph = flow::makeStepGraph(problem.topology, 1);
  ASSERT_TRUE(graph);
  std::vector<uint32_t> supply(65, 1);
  supply[1] = 0;
  const std::function<bool()> never;
  flow::Layers layers(*graph, supply, never);
  EXPECT_TRUE(layers.attempt(std::vector<uint32_t>(64, 1)).loads);
  EXPECT_FALSE(layers.isTooLarge(1 << 15));
  EXPECT_TRUE(layers.isTooLarge(1 << 16));
  const uint64_t before = layers.work();
  EXPECT_FALSE(layers.attempt(std::vector<uint32_t>(1 << 16, 1)).loads);
  EXPECT_EQ(layers.work(), before);
}

/// The bound ends at its limit on the work, if it rises at none of many ranks, and during a single flow.
TEST(Flow, LimitsTheWorkOfTheBound) {
  const Problem many("mesh:40x40", rooted("broadcast", 1600, 820, 7)),
      single("8*line:100", "allgather(ranks = 800, chunks = 1, inplace = inplace)");
  for (const auto &[problem, from] : {std::pair(&many, 43), std::pair(&single, 720)}) {
    uint32_t calls = 0;
    flow::leastRounds(problem->topology, problem->demand, static_cast<uint64_t>(from), [&] { return ++calls == 0; });
    EXPECT_GT(calls, 10u);
    EXPECT_LT(calls, 3000u);
  }
}

TEST(Flow, RoundsPerStep) {
  flow::Options options;
  const Problem problem("torus:4x4", rooted("gather", 16, 3, 8));
  const uint32_t rounds = resultOf(problem).algorithm->totalRounds();
  options.roundsPerStep = 10;
  const Algorithm coarse = *resultOf(problem, options).algorithm;
  EXPECT_LE(coarse.steps(), 5u);
  EXPECT_GE(coarse.totalRounds(), rounds);
}

TEST(Flow, AppliesToOneSourceOrOneTarget) {
  EXPECT_TRUE(flow::applies(Problem("ring:4", rooted("gather", 4, 1, 2)).demand));
  EXPECT_TRUE(flow::applies(Problem("ring:4", rooted("scatter", 4, 1, 2)).demand));
  EXPECT_FALSE(flow::applies(Problem("ring:4", rooted("broadcast", 4, 1, 2)).demand));
  EXPECT_FALSE(flow::applies(Problem("ring:4", "alltoall(ranks = 4, chunks = 1, inplace = inplace)").demand));
}

TEST(Flow, RejectsABoundThatListsALinkTwice) {
  Problem problem("ring:4", rooted("gather", 4, 0, 1));
  problem.topology.addBound({1, 1}, 1);
  EXPECT_FALSE(flow::search(problem.topology, problem.demand, {}).algorithm);
}

TEST(Flow, Stops) {
  flow::Options options;
  options.stops = [] { return true; };
  const Problem problem("torus:4x4", rooted("gather", 16, 3, 8));
  EXPECT_FALSE(flow::search(problem.topology, problem.demand, options).algorithm);
  options.stops = nullptr;
  options.mostSends = 50;
  EXPECT_THROW(flow::search(problem.topology, problem.demand, options), std::length_error);
}

} // namespace
