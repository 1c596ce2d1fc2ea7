// SPDX-License-Identifier: Apache-2.0
// Tests the wiring of ranks that have GPUs of their own, and the programs that they select by it.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;
using core::RankOrder;
using core::Wiring;

namespace {

/// Returns the data of ranks, each with its host and the first rank of its LSA team.
std::vector<comm::RankInfo> infosOf(const std::vector<std::pair<uint64_t, int32_t>> &ranks) {
  std::vector<comm::RankInfo> infos;
  for (const auto &[host, firstPeer] : ranks) {
    comm::RankInfo &info = infos.emplace_back();
    info.host = host;
    info.firstPeer = firstPeer;
  }
  return infos;
}

Wiring wiringOf(const std::vector<std::pair<uint64_t, int32_t>> &ranks, uint64_t stated = 0) {
  return comm::wiringOf(infosOf(ranks), stated);
}

} // namespace

TEST(CommNodes, AreHostsOrDomains) {
  EXPECT_EQ(wiringOf({{7, 0}, {7, 0}, {9, 2}, {9, 2}}), Wiring::ofBlocks(4, 2));
  EXPECT_EQ(wiringOf({{7, 0}, {7, 1}, {9, 2}, {9, 3}}), Wiring::ofBlocks(4, 2))
      << "GPUs without peer access share a node";
  EXPECT_EQ(wiringOf({{7, 0}, {8, 0}, {9, 2}, {6, 2}}), Wiring::ofBlocks(4, 2)) << "domains of several hosts are nodes";
  EXPECT_EQ(wiringOf({{7, 0}, {9, 1}, {7, 2}, {9, 3}}), (Wiring{2, 2, RankOrder::Cyclic, {0, 2, 1, 3}}));
  EXPECT_EQ(wiringOf({{7, 0}, {0, 1}}), Wiring{}) << "a host is unknown";
  EXPECT_EQ(wiringOf({{7, 0}, {0, 1}}, 2), Wiring::ofBlocks(2, 2)) << "the application states the nodes";
}

/// All ranks select the program for their nodes.
TEST(CommNodes, SelectPrograms) {
  ProgramSpec any = ringAllReduce(4, false), one = any, two = any;
  any.name = "any";
  one.name = "one", one.nodes = 1;
  two.name = "two", two.nodes = 2;
  for (const auto &[nodes, name] : {std::pair(0, "one"), {1, "one"}, {2, "two"}, {4, "any"}}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    cuda::Options options = smallOptions();
    options.choice.nodes = static_cast<uint64_t>(nodes);
    CommWorld world(fake, nccl, {any, one, two}, options);
    ASSERT_EQ(world.joinProblem(), "");
    core::Request request;
    request.name = "allreduce";
    request.count = 4;
    for (const auto &each : world.ranks) {
      const std::shared_ptr<comm::ProgramTable> table = each->programs();
      EXPECT_EQ(table->entry(*table->choose(request)).name(), name) << nodes << " nodes";
    }
  }
}

TEST(CommNodes, MustDivideTheRanks) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  cuda::Options options = smallOptions();
  options.choice.nodes = 3;
  CommWorld world(fake, nccl, {ringAllReduce(4, false)}, options);
  EXPECT_EQ(world.joinProblem(), "the config has 3 nodes, among which 4 ranks can't be divided equally");
}

/// The ranks decide twice if a program uses a network. The ranks of an AllReduce are renumbered once.
TEST(CommNodes, RenumberRanksOnce) {
  ProgramSpec two = ringAllReduce(4, false);
  two.nodes = 2;
  core::Result<std::unique_ptr<comm::ProgramTable>> made = comm::ProgramTable::make({open({two})}, 4, smallOptions());
  ASSERT_TRUE(made.ok());
  comm::ProgramTable &table = **made;
  const std::vector<comm::RankInfo> infos = infosOf({{7, 0}, {9, 1}, {7, 2}, {9, 3}});
  for (int times = 0; times < 2; ++times) {
    table.decide(infos);
    std::vector<int32_t> next; // by rank; the ring is 0 2 1 3
    for (uint32_t r = 0; r < 4; ++r)
      next.push_back(table.programOf(0)->rank(r).threadBlocks[0].send_peer());
    EXPECT_EQ(next, (std::vector<int32_t>{2, 3, 1, 0}));
  }
}

TEST(CommNodes, KeepTheNumbersInUnprovenPrograms) {
  ProgramSpec two = ringAllReduce(4, false);
  two.nodes = 2;
  cuda::Options options = smallOptions();
  options.allowUnproven = true;
  core::Result<std::unique_ptr<comm::ProgramTable>> made = comm::ProgramTable::make({open({two})}, 4, options);
  ASSERT_TRUE(made.ok());
  (*made)->decide(infosOf({{7, 0}, {9, 1}, {7, 2}, {9, 3}}));
  EXPECT_EQ((*made)->programOf(0)->rank(0).threadBlocks[0].send_peer(), 1);
}
