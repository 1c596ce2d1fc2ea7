// SPDX-License-Identifier: Apache-2.0
// Compares the answers of the solver with an exhaustive search, for all collectives on random small topologies.
#include "BruteForce.h"
#include "SolvePlainly.h"
#include "Task.h"
#include "gc3/Common/StandardCollective.h"
#include <random>

using namespace gc3;
using namespace gc3::synth;

namespace {

class Random {
public:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }

private:
  std::mt19937 engine{1};
};

/// Returns a one-way ring with some additional links, some of them parallel. Links have bandwidth 1 or 2, and some are
/// under bounds.
topology::Topology randomTopology(Random &random) {
  topology::Topology topology;
  topology.ranks = 2 + random.below(3);
  const auto addLink = [&](uint32_t from, uint32_t hop) {
    topology.links.push_back({.from = from, .to = (from + hop) % topology.ranks, .bandwidth = 1 + random.below(2)});
  };
  for (uint32_t rank = 0; rank < topology.ranks; ++rank)
    addLink(rank, 1);
  for (uint32_t more = random.below(4); more > 0; --more)
    addLink(random.below(topology.ranks), 1 + random.below(topology.ranks - 1));
  for (uint32_t bounds = random.below(4); bounds > 0; --bounds) {
    std::vector<uint32_t> links;
    for (uint32_t link = 0; link < topology.linkCount(); ++link)
      for (uint32_t times = random.below(3); times > 0; --times) // a bound can name a link twice
        links.push_back(link);
    if (!links.empty())
      topology.addBound(links, 1 + random.below(3));
  }
  return topology;
}

Task randomTask(Random &random, const std::string &collective, const topology::Topology &topology) {
  const uint32_t unit = chunkUnit(collective, topology.ranks), most = 5 - topology.ranks;
  const uint32_t root = common::findStandard(collective)->hasRoot() ? random.below(topology.ranks) : 0;
  std::string error;
  return makeTask(topology, {collective, unit * (1 + random.below(most)), root}, error).value();
}

/// Returns the parts of a task. An Allreduce consists of a ReduceScatter and an AllGather with the same number of steps
/// and rounds.
std::vector<Task> partsOf(const Task &task) {
  if (task.derivation != Task::Derivation::InverseThenDirect)
    return {task};
  std::vector<Task> parts;
  std::string error;
  for (const char *half : {"reduce_scatter", "allgather"})
    parts.push_back(makeTask(task.topology, {half, task.chunks / task.topology.ranks}, error).value());
  return parts;
}

struct Count {
  uint32_t possible = 0, impossible = 0;
};

/// Compares the answers for up to three steps in each part, and up to two rounds more than steps.
void compare(const Task &task, Count &count) {
  const std::vector<Task> parts = partsOf(task);
  std::vector<BruteForce> searches;
  for (const Task &part : parts)
    searches.emplace_back(part.topology, part.demand);
  const auto factor = static_cast<uint32_t>(parts.size());
  const uint32_t mostSteps = task.demand.chunks() <= 12 ? 3 : 2; // the search for an AllToAll of four ranks takes long
  for (uint32_t steps = 1; steps <= mostSteps; ++steps)
    for (uint32_t rounds = steps; rounds <= steps + 2; ++rounds) {
      bool isPossible = true;
      for (BruteForce &search : searches)
        isPossible = isPossible && search.isPossible(steps, rounds);
      (isPossible ? count.possible : count.impossible) += 1;
      const Finder plainly = [&](const auto &on, const auto &demand) {
        return solvePlainly(on, demand, orbits(on, demand, {}, 0, 1), {steps, rounds});
      };
      const Finder byAllTries = [&](const auto &on, const auto &demand) {
        return solve(on, demand, {steps, rounds}, {});
      };
      for (const Finder &find : {plainly, byAllTries}) {
        const Outcome outcome = findBy(task, find);
        EXPECT_EQ(outcome.verdict, isPossible ? Verdict::Satisfiable : Verdict::Unsatisfiable)
            << task.implements << " in " << steps << " steps, " << rounds << " rounds";
        if (!outcome.algorithm)
          continue;
        EXPECT_EQ(findError(task.topology, task.demand, *outcome.algorithm), "");
        EXPECT_EQ(outcome.algorithm->steps(), steps * factor);
        EXPECT_LE(outcome.algorithm->totalRounds(), rounds * factor);
      }
    }
}

} // namespace

TEST(Encoding, AgreesWithASearchWithoutSolver) {
  Random random;
  for (const char *collective :
       {"allgather", "broadcast", "gather", "scatter", "alltoall", "reduce_scatter", "reduce", "allreduce"}) {
    Count count;
    for (uint32_t i = 0; i < 20 && !testing::Test::HasFailure(); ++i) {
      const topology::Topology topology = randomTopology(random);
      SCOPED_TRACE(i);
      compare(randomTask(random, collective, topology), count);
    }
    EXPECT_GT(count.possible, 20u) << collective;
    EXPECT_GT(count.impossible, 20u) << collective;
  }
}
