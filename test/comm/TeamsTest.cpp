// SPDX-License-Identifier: Apache-2.0
// Tests nodes without a network between them. NCCL then has no windows for a communicator over several nodes, so gc3
// creates a communicator for each LSA team.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Puts two ranks on each node, without a network between the nodes.
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

/// Returns a program like pairs(), but with connections of its own, because its protocol differs.
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

/// The communicators of the LSA teams may also have no windows. gc3 splits only once, not for each program.
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

/// If the LSA team in the new communicator differs, gc3 refuses the program, which would get addresses of wrong ranks.
TEST_F(CommSplit, TeamsStayAsTheyAre) {
  CommWorld world(fake, nccl, {pairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  nccl.teamSize = 1; // changes the LSA teams in the communicators that gc3 splits off from now on
  EXPECT_EQ(
      world.run(0, {}),
      "program 'pairs' could not be loaded: the ranks of an LSA team are no LSA team in a communicator of their own");
}

/// gc3 creates no communicators for LSA teams if there is only one node, or if a network connects the nodes.
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

/// A failed rank aborts gc3's communicators when it releases them, so it does not wait for other ranks.
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
