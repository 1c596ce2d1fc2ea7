// SPDX-License-Identifier: Apache-2.0
// Nodes between which there is no network, so that NCCL has no windows over all ranks: LSA teams have their own.
#include "LsaSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Nodes of two ranks.
void nodes(FakeWindows &windows, int version) {
  windows.teamSize = 2;
  windows.hasPart = false;
  windows.windows = FakeWindows::Windows::OneTeam;
  windows.version = version;
}

class LsaSplit : public testing::Test {
protected:
  LsaSplit() { nodes(windows, ncclapi::tellingVersion); }
  void TearDown() override { EXPECT_EQ(windows.leaks(), leaks); }

  FakeCuda fake;
  FakeWindows windows{fake};
  std::string leaks;
};

/// Like pairs(), by connections of its own.
ProgramSpec otherPairs(uint32_t ranks) {
  ProgramSpec spec = pairs(ranks);
  spec.name = "others";
  spec.protocol = static_cast<uint8_t>(kernel::Protocol::LL);
  return spec;
}

TEST_F(LsaSplit, ProgramsWithinNodesRun) {
  LsaWorld world(fake, windows, {ringAllReduce(6, false), pairs(6), otherPairs(6)});
  ASSERT_EQ(world.made(), "");
  EXPECT_EQ(windows.splits, 0u) << "nobody needs a window yet";
  EXPECT_EQ(world.run(1, {.count = 100}), "");
  EXPECT_EQ(windows.splits, 6u);
  EXPECT_EQ(world.run(2, {.count = 100}), "");
  EXPECT_EQ(world.run(1, {.count = 3, .inPlace = true}), "");
  EXPECT_EQ(windows.splits, 6u) << "once";
  EXPECT_EQ(windows.windowsMade, 12u) << "two on each rank";
  EXPECT_EQ(world.run(0, {}), "program 'ring6_1': ranks 0 and 5, which it connects, do not reach each other's memory, "
                              "and rank 0 has no libgc3gin.so, which goes between nodes");
}

TEST_F(LsaSplit, RanksMayBeAheadOfOthers) {
  LsaWorld world(fake, windows, {pairs(4), otherPairs(4)});
  ASSERT_EQ(world.made(), "");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
}

/// Teams may turn out to have none either, which is found out once.
TEST_F(LsaSplit, NodesWithoutWindows) {
  for (auto [kind, version] : {std::pair(FakeWindows::Windows::Null, ncclapi::tellingVersion),
                               std::pair(FakeWindows::Windows::Other, ncclapi::oldestVersion)}) {
    windows.windows = kind;
    windows.version = version;
    windows.splits = 0;
    LsaWorld world(fake, windows, {pairs(4), otherPairs(4)});
    EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
    EXPECT_EQ(world.run(1, {}), "program 'others' could not be loaded: this communicator has no symmetric windows");
    EXPECT_EQ(windows.splits, 4u);
  }
}

/// The addresses that programs go by would be other ranks'.
TEST_F(LsaSplit, TeamsStayAsTheyAre) {
  LsaWorld world(fake, windows, {pairs(4)});
  ASSERT_EQ(world.made(), "");
  windows.teamSize = 1; // in what is split off
  EXPECT_EQ(world.run(0, {}),
            "program 'pairs' could not be loaded: an LSA team is no team in a communicator of its own");
}

/// One node has nothing to split, and with a network the windows are there.
TEST_F(LsaSplit, OnlyWhereItMayHelp) {
  {
    LsaWorld world(fake, windows, {pairs(2)});
    EXPECT_EQ(world.run(0, {.count = 5}), "");
    windows.windows = FakeWindows::Windows::Null;
    LsaWorld without(fake, windows, {pairs(2)});
    EXPECT_EQ(without.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
  }
  windows.hasPart = true;
  windows.partFor = windows.version;
  LsaWorld world(fake, windows, {pairs(4), ringAllReduce(4, false)});
  EXPECT_EQ(world.run(0, {}), "program 'pairs' could not be loaded: this communicator has no symmetric windows");
  EXPECT_EQ(windows.splits, 0u);
}

/// What was split off is ours to abort, and nothing else is touched.
TEST_F(LsaSplit, AbortEndsItToo) {
  LsaWorld world(fake, windows, {pairs(4)});
  ASSERT_EQ(world.run(0, {}), "");
  for (const lsa::Joined &rank : world.joined)
    rank.rank->abort();
  EXPECT_EQ(windows.abortedSplits, 4u);
  for (ncclapi::Comm comm : world.comms)
    windows.free(comm);
  const uint64_t used = windows.used;
  world.joined.clear();
  EXPECT_EQ(windows.used, used);
  leaks = "12 pieces of memory 4 pieces of pinned memory 4 pieces of symmetric memory 4 windows ";
}

/// Also where nobody but the thread that loads knows of it yet.
TEST(LsaSplitErrors, AbortEndsWhatIsBeingMade) {
  for (const uint64_t at : {1, 4}) { // in the gather where ranks tell each other of it, and when all have heard
    FakeCuda cuda;
    FakeWindows other(cuda);
    nodes(other, ncclapi::tellingVersion);
    LsaWorld world(cuda, other, {pairs(4)});
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(cuda, trial);
    std::vector<lsa::RankCall> calls;
    for (size_t rank = 0; rank < 4; ++rank)
      calls.push_back(world.part(rank, buffers.requests[rank]));
    cuda.whileAsked = [&, asked = uint64_t{0}]() mutable {
      asked += other.splits != 0;
      if (asked == at)
        for (const lsa::Joined &rank : world.joined)
          rank.rank->abort();
    };
    lsa::run(calls, world.nccl);
    cuda.whileAsked = nullptr;
    for (const lsa::RankCall &call : calls)
      EXPECT_EQ(call.outcome.text, "the communicator was aborted") << at;
    EXPECT_EQ(other.abortedSplits, 4u) << at;
    EXPECT_EQ(other.registrations, 4u) << "those before the split";
  }
}

/// Where a rank has waited in vain its team's communicator stays: to destroy it waits for the GPU, where NCCL hangs.
TEST_F(LsaSplit, WhoHasGivenUpLeavesItAlone) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 20;
  LsaWorld world(fake, windows, {pairs(4), otherPairs(4)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(1, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
  lsa::run(calls, world.nccl);
  EXPECT_EQ(calls[0].outcome.text, "after 20 ms not all ranks have loaded the program");
  const uint64_t used = windows.used;
  world.joined[0].rank.reset();
  EXPECT_EQ(windows.used, used) << "nothing of NCCL is touched";
  leaks =
      "4 pieces of memory 3 pieces of pinned memory 1 streams 2 pieces of symmetric memory 1 windows 1 communicators ";
}

} // namespace
