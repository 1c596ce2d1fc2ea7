// SPDX-License-Identifier: Apache-2.0
// Tests the greedy search on topologies of all kinds. Results must be correct, their programs must keep the promise of
// the collective, and results must reach the lower bound where this is possible.
#include "gc3/Greedy/Greedy.h"
#include "Problem.h"
#include "gc3/Algorithm/Bounds.h"
#include "gc3/Topology/Lattice.h"
#include "gc3/Topology/Machines.h"
#include <random>

using namespace gc3;
using namespace gc3::algorithm;

namespace {

uint32_t boundOf(const Problem &problem) {
  const Bounds bounds = lowerBounds(problem.topology, problem.demand);
  return static_cast<uint32_t>(std::max<uint64_t>(bounds.rounds(), bounds.steps));
}

/// Runs the search and checks its result. If `compile` is set, also checks the program of the result. Returns the
/// number of rounds.
uint32_t roundsOf(const Problem &problem, const greedy::Options &options = {}, bool compile = true) {
  const std::optional<Algorithm> found = greedy::search(problem.topology, problem.demand, options);
  if (!found) {
    ADD_FAILURE() << "nothing was found";
    return 0;
  }
  EXPECT_EQ(problem.findError(*found), "");
  EXPECT_LE(boundOf(problem), found->totalRounds());
  if (compile) {
    EXPECT_EQ(complaints(problem.program(*found)), "");
  }
  return found->totalRounds();
}

const std::string place = ", inplace = inplace)";

std::string allgather(uint32_t ranks, uint32_t chunks = 1) {
  return "allgather(ranks = " + std::to_string(ranks) + ", chunks = " + std::to_string(chunks) + place;
}
std::string alltoall(uint32_t ranks, uint32_t chunks = 1) {
  return "alltoall(ranks = " + std::to_string(ranks) + ", chunks = " + std::to_string(chunks) + place;
}

/// Returns the problem without the lattice of its topology, so that the search can't use the symmetry.
Problem plain(Problem problem) {
  problem.topology.lattice.clear();
  return problem;
}

TEST(Lattice, MovesPoints) {
  const topology::Lattice lattice({3, 4, 2});
  for (uint32_t point = 0; point < 24; ++point)
    for (uint32_t vector = 0; vector < 24; ++vector) {
      const uint32_t moved = lattice.add(point, vector);
      EXPECT_LT(moved, 24u);
      EXPECT_EQ(lattice.difference(moved, point), vector);
      EXPECT_EQ(lattice.difference(moved, vector), point);
      EXPECT_EQ(lattice.differences(vector)[moved], point);
    }
  EXPECT_EQ(lattice.add(23, 23), 12u) << "(2, 3, 1) twice is (1, 2, 0)";
}

TEST(Lattice, MovesCells) {
  const topology::Lattice lattice({3, 2}, 4);
  for (uint32_t rank = 0; rank < 24; ++rank)
    for (uint32_t vector = 0; vector < 24; ++vector) {
      const uint32_t moved = lattice.add(rank, vector);
      EXPECT_EQ(moved % 4, rank % 4);
      EXPECT_EQ(moved / 4, topology::Lattice({3, 2}).add(rank / 4, vector / 4));
      EXPECT_EQ(lattice.difference(moved, vector), rank);
      EXPECT_EQ(lattice.differences(vector)[moved], rank);
    }
}

TEST(Lattice, LinksOfAllPointsAreAlike) {
  for (const char *name : {"ring:5", "torus:3x4x2", "hypercube:3", "full:5", "dgx2", "3*dgx-a100", "torus:1x4",
                           "2*dgx1", "3*mesh:2x3", "4*dgx2"}) {
    std::string error;
    const topology::Topology topology = topology::named(name, error).value();
    const topology::Lattice lattice(topology);
    const std::optional<topology::LinkClasses> classes = linkClasses(topology);
    ASSERT_TRUE(classes) << name;
    std::vector<uint32_t> seen(topology.linkCount(), 0);
    EXPECT_EQ(classes->points() * lattice.cell(), topology.ranks);
    for (uint32_t point = 0; point < classes->points(); ++point)
      for (uint32_t k = 0; k < classes->classes; ++k) {
        const topology::Link &link = topology.links[classes->link(point, k)];
        const topology::Link &first = topology.links[classes->link(0, k)];
        ++seen[classes->link(point, k)];
        EXPECT_LT(first.from, lattice.cell());
        EXPECT_EQ(link.from, lattice.add(first.from, point * lattice.cell())) << name;
        EXPECT_EQ(link.to, lattice.add(first.to, point * lattice.cell())) << name;
        EXPECT_EQ(link.bandwidth, first.bandwidth);
      }
    EXPECT_EQ(seen, std::vector<uint32_t>(topology.linkCount(), 1));
  }
}

TEST(Lattice, IsNoneWhereRanksDiffer) {
  for (const char *name : {"line:4", "mesh:3x3", "star:5", "dgx1"}) {
    std::string error;
    topology::Topology topology = topology::named(name, error).value();
    EXPECT_FALSE(linkClasses(topology)) << name;
    for (const std::vector<uint32_t> &lattice : {std::vector<uint32_t>{topology.ranks}, {1}, {7}}) {
      topology.lattice = lattice;
      EXPECT_FALSE(linkClasses(topology)) << name;
    }
  }
}

/// Ranks that the fastest links connect form a machine. Network links do not count.
TEST(Machines, AreWhatTheFastestLinksConnect) {
  std::string error;
  topology::Topology topology = topology::named("3*ring:4", error).value();
  EXPECT_EQ(machinesOf(topology), (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
  for (topology::Link &link : topology.links)
    link.kind = topology::LinkKind::Other;
  EXPECT_EQ(machinesOf(topology), std::vector<uint32_t>(12, 0)) << "all links are as fast";
  for (topology::Link &link : topology.links)
    link.bandwidth = link.from % 4 == link.to % 4 ? 2 : 1;
  EXPECT_EQ(machinesOf(topology), (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Machines, PartsKeepWhatBoundsSayOfThem) {
  std::string error;
  const topology::Topology whole = topology::named("dgx1", error).value();
  topology::Topology bounded = whole;
  bounded.addBound({0, 1, 2, 2}, 3);
  bounded.addBound({5}, 1);
  const std::vector<uint32_t> newRank = {1, 0, 9, 9, 2, 9, 9, 9};
  const topology::Part part = partOf(bounded, boundsOfLinks(bounded), {2, 0}, newRank, 3);
  EXPECT_EQ(part.links, (std::vector<uint32_t>{2, 0}));
  ASSERT_EQ(part.topology.linkCount(), 2u);
  EXPECT_EQ(part.topology.links[0].from, newRank[whole.links[2].from]);
  EXPECT_EQ(part.topology.links[1].to, newRank[whole.links[0].to]);
  EXPECT_EQ(part.topology.boundLinks, (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(part.topology.boundBandwidth, std::vector<uint32_t>{3});
}

/// If the search knows the symmetry, it reaches the lower bound on closed grids.
TEST(Greedy, MeetsTheBoundOnLattices) {
  for (const char *name : {"ring:3", "ring:8", "torus:4x4", "torus:3x5", "torus:4x4x4", "torus:2x8", "hypercube:5",
                           "full:7", "dgx-a100", "dgx2", "amd-z52"}) {
    std::string error;
    const uint32_t ranks = topology::named(name, error).value().ranks;
    for (uint32_t chunks : {1, 3}) {
      const Problem problem(name, allgather(ranks, chunks));
      EXPECT_EQ(roundsOf(problem), boundOf(problem)) << name << " " << chunks;
    }
    const Problem problem(name, alltoall(ranks));
    EXPECT_EQ(roundsOf(problem), boundOf(problem)) << name;
  }
}

TEST(Greedy, LargeTopologies) {
  for (const char *name : {"torus:8x8x8", "hypercube:9"}) {
    const Problem gather(name, allgather(512)), all(name, alltoall(512));
    greedy::Options once;
    once.tries = 1;
    EXPECT_EQ(roundsOf(gather, once, false), boundOf(gather)) << name;
    EXPECT_LE(roundsOf(all, once, false), boundOf(all) * 1.02) << name;
    EXPECT_LE(roundsOf(plain(gather), once, false), boundOf(gather) * 1.1) << name;
  }
}

TEST(Greedy, TopologiesWhoseRanksDiffer) {
  for (const char *name : {"line:7", "mesh:4x5", "star:8", "dgx1", "2*dgx1", "3*dgx-a100", "2*dgx2", "4*ring:4"}) {
    std::string error;
    const uint32_t ranks = topology::named(name, error).value().ranks;
    const Problem gather(name, allgather(ranks, 2)), all(name, alltoall(ranks));
    EXPECT_LE(roundsOf(gather), boundOf(gather) * 1.5 + 1) << name;
    EXPECT_LE(roundsOf(all), boundOf(all) * 1.5 + 1) << name;
  }
}

/// The search composes an algorithm for a machine with one for the network between the machines. All machines run the
/// same algorithm.
TEST(Greedy, MachinesAreComposed) {
  const std::pair<const char *, double> most[] = {
      {"16*ring:8", 1.05}, {"16*torus:4x4", 1.03}, {"16*dgx1", 1.1}, {"8*amd-z52", 1.08}, {"8*line:4", 1.15}};
  for (const auto &[name, ratio] : most) {
    std::string error;
    const uint32_t ranks = topology::named(name, error).value().ranks;
    const Problem problem(name, allgather(ranks));
    EXPECT_LE(roundsOf(problem, {}, false), boundOf(problem) * ratio) << name;
  }
}

/// Tests random machines on a network of any shape. Some machines have a single rank or a single network card.
TEST(Greedy, RandomMachines) {
  std::mt19937 engine(23);
  auto below = [&](uint32_t end) { return static_cast<uint32_t>(engine() % end); };
  for (int i = 0; i < 60; ++i) {
    topology::Topology topology;
    std::vector<uint32_t> firsts;
    const uint32_t machines = 2 + below(4);
    for (uint32_t machine = 0, size; machine < machines; ++machine, topology.ranks += size) {
      firsts.push_back(topology.ranks);
      size = machine == 0 ? 2 : 1 + below(4);
      for (uint32_t member = 0; size > 1 && member < size; ++member)
        topology.links.push_back(
            {.from = topology.ranks + member, .to = topology.ranks + (member + 1) % size, .bandwidth = 2});
    }
    firsts.push_back(topology.ranks);
    auto someOf = [&](uint32_t machine) { return firsts[machine] + below(firsts[machine + 1] - firsts[machine]); };
    for (uint32_t link = 0; link < machines + below(6); ++link) {
      const uint32_t from = link % machines, to = link < machines ? (from + 1) % machines : below(machines);
      if (from != to)
        topology.links.push_back(
            {.from = someOf(from), .to = someOf(to), .bandwidth = 1 + below(2), .kind = topology::LinkKind::Network});
    }
    std::vector<uint32_t> bounded;
    for (uint32_t link = 0; link < topology.linkCount(); ++link)
      if (below(4) == 0)
        bounded.push_back(link);
    topology.addBound(bounded, 1 + below(3));
    const std::string ranks = std::to_string(topology.ranks);
    for (const std::string &collective :
         {allgather(topology.ranks, 1 + below(3)),
          "broadcast(ranks = " + ranks + ", root = 1, chunks = 5, inplace = inplace)"}) {
      Problem problem("ring:" + std::to_string(std::max(3u, topology.ranks)), collective);
      problem.topology = topology;
      greedy::Options options;
      options.tries = 3;
      options.roundsPerStep = 1 + below(2);
      EXPECT_NE(roundsOf(problem, options), 0u);
    }
  }
}

/// Tests programs that contain lists of numbers instead of a line for each send: with one or two indices, with several
/// consecutive chunks, with and without loops.
TEST(Greedy, DensePrograms) {
  const std::string some = "(ranks = 12, chunks = 3, inplace = inplace)";
  for (const char *name : {"mesh:3x4", "ring:12", "torus:3x4", "3*line:4", "star:12"})
    for (const std::string &collective : {"allgather" + some, "alltoall" + some, "scatter" + some, "gather" + some}) {
      const Problem problem(name, collective);
      const std::optional<Algorithm> found = greedy::search(problem.topology, problem.demand, {});
      ASSERT_TRUE(found);
      EXPECT_EQ(complaints(problem.program(*found, 0)), "") << name << " " << collective;
    }
}

TEST(Greedy, RootsAndCustomCollectives) {
  for (const char *name : {"ring:8", "dgx1", "torus:2x4", "hypercube:3", "star:8", "mesh:2x4"}) {
    for (const char *collective : {"broadcast(ranks = 8, root = 3, chunks = 5, inplace = inplace)",
                                   "scatter(ranks = 8, root = 5, chunks = 2, inplace = inplace)",
                                   "gather(ranks = 8, root = 2, chunks = 2, inplace = inplace)"})
      EXPECT_NE(roundsOf(Problem(name, collective)), 0u) << name << " " << collective;
  }
}

/// Tests chunks that several ranks want, but not all ranks. The paths of a chunk share their common parts.
TEST(Greedy, SomeTargets) {
  std::mt19937 random(7);
  for (const char *name : {"ring:9", "mesh:3x3", "torus:3x3", "star:9"})
    for (int i = 0; i < 20; ++i) {
      Problem problem(name, allgather(9, 2));
      Demand some = problem.demand;
      some.targets.clear();
      some.targetBegin = {0};
      for (uint32_t chunk = 0; chunk < some.chunks(); ++chunk) {
        for (const BufferChunk &target : problem.demand.targetsOf(chunk))
          if (random() % 3 == 0)
            some.targets.push_back(target);
        some.targetBegin.push_back(static_cast<uint32_t>(some.targets.size()));
      }
      problem.demand = some;
      greedy::Options options;
      options.tries = 2;
      roundsOf(problem, options, false);
    }
}

/// Tests random topologies with overlapping bounds and with links of various bandwidths.
TEST(Greedy, RandomTopologies) {
  std::mt19937 engine(11);
  auto below = [&](uint32_t end) { return static_cast<uint32_t>(engine() % end); };
  for (int i = 0; i < 60; ++i) {
    const uint32_t ranks = 3 + below(6);
    Problem gather("ring:" + std::to_string(ranks), allgather(ranks, 1 + below(3)));
    topology::Topology &topology = gather.topology;
    for (topology::Link &link : topology.links)
      link.bandwidth = 1 + below(3);
    for (uint32_t extra = below(6); extra > 0; --extra)
      if (const uint32_t from = below(ranks), to = below(ranks); from != to)
        topology.links.push_back({.from = from, .to = to, .bandwidth = 1 + below(4)});
    for (uint32_t bounds = below(4); bounds > 0; --bounds) {
      std::vector<uint32_t> links;
      for (uint32_t link = 0; link < topology.linkCount(); ++link)
        if (below(3) == 0)
          links.push_back(link);
      topology.addBound(links, 1 + below(3));
    }
    greedy::Options options;
    options.tries = 3;
    options.roundsPerStep = 1 + below(3);
    EXPECT_NE(roundsOf(gather, options), 0u);
    Problem all(topology.name, alltoall(ranks));
    all.topology = topology;
    EXPECT_NE(roundsOf(all, options), 0u);
  }
}

TEST(Greedy, IsTheSameForASeed) {
  const Problem problem("mesh:4x4", allgather(16, 2));
  greedy::Options options;
  options.tries = 3;
  auto text = [&] { return problem.program(*greedy::search(problem.topology, problem.demand, options)); };
  const std::string first = text();
  EXPECT_EQ(first, text());
  options.seed = 5;
  EXPECT_NE(first, text());
}

TEST(Greedy, MoreRoundsMakeFewerSteps) {
  const Problem problem("torus:4x4", allgather(16, 4));
  greedy::Options options;
  const std::optional<Algorithm> fine = greedy::search(problem.topology, problem.demand, options);
  options.roundsPerStep = 4;
  const std::optional<Algorithm> coarse = greedy::search(problem.topology, problem.demand, options);
  EXPECT_EQ(problem.findError(*coarse), "");
  EXPECT_LT(coarse->steps(), fine->steps());
  EXPECT_GE(coarse->totalRounds(), fine->totalRounds());
}

TEST(Greedy, Stops) {
  const Problem problem("dgx1", allgather(8, 6));
  greedy::Options options;
  options.tries = 3;
  options.stops = [] { return true; };
  EXPECT_FALSE(greedy::search(problem.topology, problem.demand, options)) << "nothing was found yet";
  uint32_t calls = 0;
  options.stops = [&] { return ++calls == 0; };
  greedy::search(problem.topology, problem.demand, options);
  const uint32_t last = std::exchange(calls, 0);
  options.stops = [&] { return ++calls >= last; };
  const std::optional<Algorithm> found = greedy::search(problem.topology, problem.demand, options);
  EXPECT_EQ(calls, last);
  ASSERT_TRUE(found) << "two tries had ended";
  EXPECT_EQ(problem.findError(*found), "");
}

} // namespace
