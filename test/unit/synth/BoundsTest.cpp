// SPDX-License-Identifier: Apache-2.0
// Compares lower bounds with the known bounds of small topologies.
#include "gc3/Algorithm/Bounds.h"
#include "Problem.h"

using namespace gc3;
using namespace gc3::algorithm;

static std::pair<uint32_t, uint32_t> boundsOf(const std::string &topology, const std::string &implements) {
  const Problem problem(topology, implements);
  const Bounds bounds = lowerBounds(problem.topology, problem.demand);
  return {bounds.steps, static_cast<uint32_t>(bounds.rounds())};
}

using Pair = std::pair<uint32_t, uint32_t>;

TEST(Bounds, OfSingleRanks) {
  EXPECT_EQ(boundsOf("ring:8", "allgather(ranks = 8)"), Pair(4, 4));
  EXPECT_EQ(boundsOf("dgx1", "allgather(ranks = 8, chunks = 6)"), Pair(2, 7)) << "42 chunks over 6 links";
  EXPECT_EQ(boundsOf("star:9", "gather(ranks = 9, chunks = 2)"), Pair(1, 2));
  EXPECT_EQ(boundsOf("star:9", "gather(ranks = 9, root = 3, chunks = 2)"), Pair(2, 16)) << "all of it over one link";
  EXPECT_EQ(boundsOf("dgx-a100", "allgather(ranks = 8, chunks = 24)"), Pair(1, 14)) << "168 chunks over 12 links";
}

TEST(Bounds, OfCutsAndHops) {
  EXPECT_EQ(boundsOf("line:16", "alltoall(ranks = 16)"), Pair(15, 64)) << "8 times 8 over the middle";
  EXPECT_EQ(boundsOf("mesh:4x4", "alltoall(ranks = 16)"), Pair(6, 16)) << "8 times 8 over 4 links";
  EXPECT_EQ(boundsOf("torus:4x4", "alltoall(ranks = 16)"), Pair(4, 8)) << "512 hops over 64 links";
  EXPECT_EQ(boundsOf("hypercube:4", "alltoall(ranks = 16)"), Pair(4, 8));
}

/// The links inside of the machines define the machines, even if the network is faster.
TEST(Bounds, OfMachinesOnAFastNetwork) {
  Problem problem("5*ring:4", "allgather(ranks = 20, chunks = 2)");
  topology::Topology &topology = problem.topology;
  const auto isExtra = [](const topology::Link &link) {
    return link.kind == topology::LinkKind::Network && link.from % 4 != 0;
  };
  std::vector<topology::Link> links;
  for (topology::Link link : topology.links)
    if (!isExtra(link)) {
      link.bandwidth = link.kind == topology::LinkKind::Network ? 3 : 2;
      links.push_back(link);
    }
  topology.links = links;
  topology.lattice.clear();
  topology.boundBegin = {0};
  topology.boundLinks.clear();
  topology.boundBandwidth.clear();
  std::vector<uint32_t> entering;
  for (uint32_t link = 0; link < topology.linkCount(); ++link)
    if (links[link].kind == topology::LinkKind::Network && links[link].to == 4)
      entering.push_back(link);
  topology.addBound(entering, 1);
  EXPECT_EQ(lowerBounds(topology, problem.demand).rounds(), 33u)
      << "32 chunks into the second machine, one a round; one that enters last reaches one rank";
}

TEST(Bounds, OfMachines) {
  EXPECT_EQ(boundsOf("4*dgx-a100", "alltoall(ranks = 32)"), Pair(2, 24)) << "192 chunks over 8 cards";
  EXPECT_EQ(boundsOf("2*dgx1", "alltoall(ranks = 16)"), Pair(3, 16)) << "64 chunks over 4 cards";
  EXPECT_EQ(boundsOf("4*ring:4", "allgather(ranks = 16, chunks = 2)"), Pair(3, 25)) << "24 chunks over one card";
}

/// All ranks of a machine want each chunk. In the last round, a chunk reaches only the rank at which it enters. In the
/// round before, it reaches a rank's neighbors, too: 5 of 8 ranks of a DGX-1.
TEST(Bounds, OfEntriesIntoMachines) {
  EXPECT_EQ(boundsOf("4*dgx1", "allgather(ranks = 32)"), Pair(3, 8)) << "24 chunks, 4 in a round";
  EXPECT_EQ(boundsOf("4*dgx1", "allgather(ranks = 32, chunks = 3)"), Pair(3, 20)) << "72 chunks";
  EXPECT_EQ(boundsOf("2*dgx1", "allgather(ranks = 16)"), Pair(3, 4)) << "8 chunks";
  EXPECT_EQ(boundsOf("3*line:4", "broadcast(ranks = 12, chunks = 3)"), Pair(4, 4)) << "from the middle of a line";
  EXPECT_EQ(boundsOf("3*line:4", "alltoall(ranks = 12)"), Pair(4, 32)) << "one rank wants each chunk";
  Problem problem("2*line:4", "allgather(ranks = 8)");
  std::erase_if(problem.topology.links, [](const topology::Link &link) {
    return link.kind == topology::LinkKind::Network && (link.from % 4 != 0 || link.to % 4 != 0);
  });
  for (topology::Link &link : problem.topology.links)
    link.bandwidth = link.kind == topology::LinkKind::Network ? 1 : 2;
  problem.topology.boundBegin = {0};
  problem.topology.boundLinks.clear(), problem.topology.boundBandwidth.clear();
  EXPECT_EQ(lowerBounds(problem.topology, problem.demand).rounds(), 6u) << "4 chunks enter at the end of a line";
}

TEST(Bounds, OfNothing) {
  EXPECT_EQ(boundsOf("ring:4", "broadcast(ranks = 4, chunks = 1)"), Pair(2, 1));
  EXPECT_EQ(boundsOf("full:4", "alltoall(ranks = 4)"), Pair(1, 1));
}

/// If the computation stops early, it omits the bounds that it has not computed, so the result can only be lower.
TEST(Bounds, StopEarly) {
  const Problem problem("mesh:32x32", "alltoall(ranks = 1024)");
  const Bounds bounds = lowerBounds(problem.topology, problem.demand),
               stopped = lowerBounds(problem.topology, problem.demand, [] { return true; });
  EXPECT_EQ(bounds.steps, 62u);
  EXPECT_LT(stopped.steps, bounds.steps);
  EXPECT_LE(stopped.rounds(), bounds.rounds());
}

TEST(Demand, StopsWithoutAnError) {
  const Problem problem("mesh:32x32", "alltoall(ranks = 1024)");
  std::string error;
  EXPECT_FALSE(demandOf(problem.collective, error, [] { return true; }));
  EXPECT_EQ(error, "");
}

/// Stops during the evaluation of the collective, which calls `stops` several times.
TEST(Collective, StopsWithoutAnError) {
  SourceManager sources;
  Diagnostics diags(sources);
  uint32_t calls = 0;
  sema::SemaOptions options;
  options.stops = [&] { return ++calls == 2; };
  const std::string text = "program p implements alltoall(ranks = 1024) { }";
  EXPECT_FALSE(sema::analyzeCollective(sources, diags, "-", text, options));
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_EQ(calls, 2u);
}
