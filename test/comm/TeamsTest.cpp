// SPDX-License-Identifier: Apache-2.0
// Nodes without a network between them. NCCL has no windows over all ranks, so each LSA team has its own communicator.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Nodes of two ranks.
void nodes(FakeNccl &nccl, int version) {
  nccl.teamSize = 2;
  nccl.hasPart = false;
  nccl.windows = FakeNccl::Windows::OneTeam;
  nccl.version = version;
}

class CommSplit : public testing::Test {
protected:
  CommSplit() { nodes(nccl, ncclapi::devicePointerVersion); }
  void TearDown() override { EXPECT_EQ(nccl.leaks(), leaks); }

  FakeCuda fake;
  FakeNccl nccl{fake};
  std::string leaks;
};

/// Like pairs(), with its own connections.
ProgramSpec otherPairs(uint32_t ranks) {
  ProgramSpec spec = pairs(ranks);
  spec.name = "others";
  spec.protocol = static_cast<uint8_t>(kernel::Protocol::LL);
  return spec;
}

TEST_F(CommSplit, ProgramsWithinNodesRun) {
  CommWorld world(fake, nccl, {ringAllReduce(6, false), pairs(6), otherPairs(6)});
  ASSERT_EQ(world.joinProblem(), "");
  EXPECT_EQ(nccl.splits, 6u) << "the children";
  EXPECT_EQ(world.run(1, {.count = 100}), "");
  EXPECT_EQ(nccl.splits, 12u);
  EXPECT_EQ(world.run(2, {.count = 100}), "");
  EXPECT_EQ(world.run(1, {.count = 3, .inPlace = true}), "");
  EXPECT_EQ(nccl.splits, 12u) << "once";
  EXPECT_EQ(nccl.windowsMade, 12u) << "two on each rank";
  EXPECT_EQ(world.run(0, {}), "program 'ring6_1': ranks 0 and 5, which it connects, do not reach each other's memory, "
                              "and rank 0 has no libgc3gin.so, which sends between nodes");
}

TEST_F(CommSplit, RanksMayBeAheadOfOthers) {
  CommWorld world(fake, nccl, {pairs(4), otherPairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
}

/// The teams' communicators can have no windows either. gc3 splits only once.
TEST_F(CommSplit, NodesWithoutWindows) {
  for (auto [kind, version] : {std::pair(FakeNccl::Windows::Null, ncclapi::devicePointerVersion),
                               std::pair(FakeNccl::Windows::Other, ncclapi::oldestVersion)}) {
    nccl.windows = kind;
    nccl.version = version;
    nccl.splits = 0;
    CommWorld world(fake, nccl, {pairs(4), otherPairs(4)});
    EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
    EXPECT_EQ(world.run(1, {}), "program 'others' could not be loaded: this communicator has no symmetric windows");
    EXPECT_EQ(nccl.splits, 8u);
  }
}

/// A different team would give programs the addresses of other ranks.
TEST_F(CommSplit, TeamsStayAsTheyAre) {
  CommWorld world(fake, nccl, {pairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  nccl.teamSize = 1; // in the communicators that are split off
  EXPECT_EQ(
      world.run(0, {}),
      "program 'pairs' could not be loaded: the ranks of an LSA team are no LSA team in a communicator of their own");
}

/// gc3 does not split if there is only one node, or if a network connects the nodes.
TEST_F(CommSplit, OnlyWhereItMayHelp) {
  {
    CommWorld world(fake, nccl, {pairs(2)});
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    nccl.windows = FakeNccl::Windows::Null;
    CommWorld without(fake, nccl, {pairs(2)});
    EXPECT_EQ(without.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
  }
  nccl.hasPart = true;
  nccl.partFor = nccl.version;
  CommWorld world(fake, nccl, {pairs(4), ringAllReduce(4, false)});
  EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
  EXPECT_EQ(nccl.splits, 8u) << "the children of three communicators";
}

TEST_F(CommSplit, AnAbortReleasesEverything) {
  CommWorld world(fake, nccl, {pairs(4)});
  ASSERT_EQ(world.run(0, {}), "");
  for (const auto &rank : world.ranks)
    abort(rank);
}

/// A failed rank aborts its communicators, so it does not wait for other ranks.
TEST_F(CommSplit, AFailedRankReleasesEverything) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 200;
  CommWorld world(fake, nccl, {pairs(4), otherPairs(4)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(1, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> calls{world.part(0, buffers.requests[0])};
  comm::CallGroup::run(calls);
  EXPECT_EQ(world.ranks[0]->status().error.text, "after 200 ms not all ranks have loaded the program");
}

} // namespace
