// SPDX-License-Identifier: Apache-2.0
// Nodes between which there is no network, so that NCCL has no nccl over all ranks: LSA teams have their own.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Nodes of two ranks.
void nodes(FakeNccl &nccl, int version) {
  nccl.teamSize = 2;
  nccl.hasPart = false;
  nccl.nccl = FakeNccl::Windows::OneTeam;
  nccl.version = version;
}

class CommSplit : public testing::Test {
protected:
  LsaSplit() { nodes(nccl, ncclapi::tellingVersion); }
  void TearDown() override { EXPECT_EQ(nccl.leaks(), leaks); }

  FakeCuda fake;
  FakeNccl nccl{fake};
  std::string leaks;
};

/// Like pairs(), by connections of its own.
ProgramSpec otherPairs(uint32_t ranks) {
  ProgramSpec spec = pairs(ranks);
  spec.name = "others";
  spec.protocol = static_cast<uint8_t>(kernel::Protocol::LL);
  return spec;
}

TEST_F(CommSplit, ProgramsWithinNodesRun) {
  CommWorld world(fake, nccl, {ringAllReduce(6, false), pairs(6), otherPairs(6)});
  ASSERT_EQ(world.made(), "");
  EXPECT_EQ(nccl.splits, 0u) << "nobody needs a window yet";
  EXPECT_EQ(world.run(1, {.count = 100}), "");
  EXPECT_EQ(nccl.splits, 6u);
  EXPECT_EQ(world.run(2, {.count = 100}), "");
  EXPECT_EQ(world.run(1, {.count = 3, .inPlace = true}), "");
  EXPECT_EQ(nccl.splits, 6u) << "once";
  EXPECT_EQ(nccl.windowsMade, 12u) << "two on each rank";
  EXPECT_EQ(world.run(0, {}), "program 'ring6_1': ranks 0 and 5, which it connects, do not reach each other's memory, "
                              "and rank 0 has no libgc3gin.so, which goes between nodes");
}

TEST_F(CommSplit, RanksMayBeAheadOfOthers) {
  CommWorld world(fake, nccl, {pairs(4), otherPairs(4)});
  ASSERT_EQ(world.made(), "");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
}

/// Teams may turn out to have none either, which is found out once.
TEST_F(CommSplit, NodesWithoutWindows) {
  for (auto [kind, version] : {std::pair(FakeNccl::Windows::Null, ncclapi::tellingVersion),
                               std::pair(FakeNccl::Windows::Other, ncclapi::oldestVersion)}) {
    nccl.nccl = kind;
    nccl.version = version;
    nccl.splits = 0;
    CommWorld world(fake, nccl, {pairs(4), otherPairs(4)});
    EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric nccl");
    EXPECT_EQ(world.run(1, {}), "program 'others' could not be loaded: this communicator has no symmetric nccl");
    EXPECT_EQ(nccl.splits, 4u);
  }
}

/// The addresses that programs go by would be other ranks'.
TEST_F(CommSplit, TeamsStayAsTheyAre) {
  CommWorld world(fake, nccl, {pairs(4)});
  ASSERT_EQ(world.made(), "");
  nccl.teamSize = 1; // in what is split off
  EXPECT_EQ(world.run(0, {}),
            "program 'pairs' could not be loaded: an LSA team is no team in a communicator of its own");
}

/// One node has nothing to split, and with a network the nccl are there.
TEST_F(CommSplit, OnlyWhereItMayHelp) {
  {
    CommWorld world(fake, nccl, {pairs(2)});
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    nccl.nccl = FakeNccl::Windows::Null;
    CommWorld without(fake, nccl, {pairs(2)});
    EXPECT_EQ(without.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric nccl");
  }
  nccl.hasPart = true;
  nccl.partFor = nccl.version;
  CommWorld world(fake, nccl, {pairs(4), ringAllReduce(4, false)});
  EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric nccl");
  EXPECT_EQ(nccl.splits, 0u);
}

/// What was split off is ours to abort, and nothing else is touched.
TEST_F(CommSplit, AbortEndsItToo) {
  CommWorld world(fake, nccl, {pairs(4)});
  ASSERT_EQ(world.run(0, {}), "");
  for (const comm::Joined &rank : world.joined)
    rank.rank->abort();
  EXPECT_EQ(nccl.abortedSplits, 4u);
  for (ncclapi::Comm comm : world.comms)
    nccl.free(comm);
  const uint64_t used = nccl.used;
  world.joined.clear();
  EXPECT_EQ(nccl.used, used);
  leaks = "12 pieces of memory 4 pieces of pinned memory 4 pieces of symmetric memory 4 nccl ";
}

/// Also where nobody but the thread that loads knows of it yet.
TEST(CommSplitErrors, AbortEndsWhatIsBeingMade) {
  for (const uint64_t at : {1, 4}) { // in the gather where ranks tell each other of it, and when all have heard
    FakeCuda cuda;
    FakeNccl other(cuda);
    nodes(other, ncclapi::tellingVersion);
    CommWorld world(cuda, other, {pairs(4)});
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(cuda, trial);
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank = 0; rank < 4; ++rank)
      calls.push_back(world.part(rank, buffers.requests[rank]));
    cuda.whileAsked = [&, asked = uint64_t{0}]() mutable {
      asked += other.splits != 0;
      if (asked == at)
        for (const comm::Joined &rank : world.joined)
          rank.rank->abort();
    };
    comm::run(calls, world.nccl);
    cuda.whileAsked = nullptr;
    for (const comm::CallGroup::Call &call : calls)
      EXPECT_EQ(call.outcome.text, "the communicator was aborted") << at;
    EXPECT_EQ(other.abortedSplits, 4u) << at;
    EXPECT_EQ(other.registrations, 4u) << "those before the split";
  }
}

/// Where a rank has waited in vain its team's communicator stays: to destroy it waits for the GPU, where NCCL hangs.
TEST_F(CommSplit, WhoHasGivenUpLeavesItAlone) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  CommWorld world(fake, nccl, {pairs(4), otherPairs(4)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(1, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> calls{world.part(0, buffers.requests[0])};
  comm::run(calls, world.nccl);
  EXPECT_EQ(calls[0].outcome.text, "after 20 ms not all ranks have loaded the program");
  const uint64_t used = nccl.used;
  world.joined[0].rank.reset();
  EXPECT_EQ(nccl.used, used) << "nothing of NCCL is touched";
  leaks =
      "4 pieces of memory 3 pieces of pinned memory 1 streams 2 pieces of symmetric memory 1 nccl 1 communicators ";
}

} // namespace
