// SPDX-License-Identifier: Apache-2.0
// Ranks of several LSA teams: what goes over the network, on the emulated one, and what is refused where there is none.
#include "LsaSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;

namespace {

class LsaNetwork : public testing::Test {
protected:
  /// Two ranks on each node.
  LsaNetwork() { windows.teamSize = 2; }
  void TearDown() override {
    EXPECT_EQ(windows.leaks(), leaks);
    EXPECT_EQ(windows.leftBehind(), 0u);
  }

  FakeCuda fake;
  FakeWindows windows{fake};
  std::string leaks;
};

/// Connections within nodes and between them in one program, which another one shares.
TEST_F(LsaNetwork, CallsLeaveWhatTheHostLeaves) {
  LsaWorld world(fake, windows,
                 {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2), allGather(4, true), broadcast(4, 1),
                  reduceTo(4, 2), writesInput(4), pairs(4)});
  ASSERT_EQ(world.made(), "");
  EXPECT_EQ(windows.networksMade, 4u);
  for (bool inPlace : {false, true})
    for (ElementType type : {ElementType::Float, ElementType::Int8})
      for (uint64_t count : {1, 6, 151})
        for (size_t program = 0; program < world.names.size(); ++program) {
          const TrialOptions options{count,      type, ReduceOp::Sum, inPlace, static_cast<uint32_t>(count % 3),
                                     ++fake.seed};
          if (world.trial(program, options).exists()) {
            EXPECT_EQ(world.run(program, options), "");
          }
        }
}

/// Four of eight slots at a time, and what is left at the end of a call.
TEST_F(LsaNetwork, SlotsAreGivenBackInBatches) {
  windows.teamSize = 1;
  LsaWorld world(fake, windows, {pairs(4)});
  EXPECT_EQ(world.run(0, {.count = 64 * 10}), ""); // ten messages of a slot of 256 bytes to each rank
  EXPECT_EQ(windows.gaveBack(), 4u * 3);
}

/// Ranks whose team is not a row of neighbours reach themselves alone: everything goes over the network, or nothing.
TEST_F(LsaNetwork, TeamsWithAStride) {
  windows.teamStride = 2;
  for (int version : {22809, ncclapi::tellingVersion}) {
    windows.version = windows.partFor = version;
    LsaWorld world(fake, windows, {plainRingAllReduce(4), pairs(4), shiftReversed(4, 2)});
    ASSERT_EQ(world.made(), "");
    for (uint32_t program = 0; program < 3; ++program) {
      EXPECT_TRUE(world.joined[0].rank->programs()->entry(program).overNetwork);
      EXPECT_EQ(world.run(program, {.count = 90}), "");
    }
    EXPECT_EQ(world.joined[0].rank->programs()->teams(), (std::vector<uint32_t>{0, 1, 2, 3}));
  }
  windows.hasPart = false;
  LsaWorld world(fake, windows, {pairs(4)});
  EXPECT_EQ(world.run(0, {}),
            "program 'pairs': ranks 0 and 1, which it connects, do not reach each other's memory, and "
            "rank 0 has no libgc3gin.so, which goes between nodes");
  EXPECT_EQ(windows.splits, 0u);
}

/// A program of another protocol goes over the network under Simple, one within nodes stays what it is.
TEST_F(LsaNetwork, OverTheNetworkAllIsSimple) {
  ProgramSpec ring = ringAllReduce(4, false), within = pairs(4);
  ring.protocol = within.protocol = static_cast<uint8_t>(kernel::Protocol::LL);
  LsaWorld world(fake, windows, {ring, within});
  ASSERT_EQ(world.made(), "");
  const lsa::Catalog &programs = *world.joined[2].rank->programs();
  EXPECT_EQ(programs.entry(0).sizes.protocol, kernel::Protocol::Simple);
  EXPECT_EQ(programs.entry(1).sizes.protocol, kernel::Protocol::LL);
  EXPECT_TRUE(programs.entry(0).overNetwork);
  EXPECT_FALSE(programs.entry(1).overNetwork);
  EXPECT_EQ(world.run(0, {.count = 90}), "");
  EXPECT_EQ(world.run(1, {.count = 90}), "");
}

/// Each rank makes all calls, in an order in which ranks are ahead of others: signals go on from call to call.
TEST_F(LsaNetwork, RanksMayBeAheadOfOthers) {
  LsaWorld world(fake, windows, {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2), pairs(4)});
  ASSERT_EQ(world.made(), "");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
}

/// Every connection goes over the network, and graphs repeat what they know of it.
TEST_F(LsaNetwork, ARankOnEachNode) {
  windows.teamSize = 1;
  LsaWorld world(fake, windows, {plainRingAllReduce(3), allToAll(3, 2), ringAllReduce(3, true)});
  ASSERT_EQ(world.made(), "");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
  const TrialOptions options{.count = 77, .inPlace = true};
  ASSERT_EQ(world.run(2, options), "");
  const Trial trial = world.trial(2, options);
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> calls;
  for (size_t rank = 0; rank < 3; ++rank)
    calls.push_back(world.part(rank, buffers.requests[rank]));
  fake.captured = true;
  lsa::run(calls, world.nccl);
  fake.captured = false;
  for (int i = 0; i < 3; ++i) {
    buffers.fill();
    fake.replay();
    EXPECT_EQ(world.finish(trial, buffers), "");
    EXPECT_EQ(world.run(1, {.count = 9}), ""); // other calls in between
  }
}

/// As many signals as the connections of all programs need, and no more; what two programs share counts once.
TEST_F(LsaNetwork, SignalsAreThoseOfAllPrograms) {
  const cuda::Options options = tuned({.slots = 3, .slotBytes = 256, .threads = 32});
  LsaWorld world(fake, windows, {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2)}, options);
  EXPECT_EQ(windows.signals(), 2 * (3 + 1u)) << "two ranks of the other node: their slots, and what they give back";
}

TEST_F(LsaNetwork, TooManySignals) {
  const cuda::Options options = tuned({.slots = 40000, .slotBytes = 256, .threads = 32});
  LsaWorld world(fake, windows, {ringAllReduce(4, false), allToAll(4, 1), pairs(4)}, options);
  ASSERT_EQ(world.made(), "");
  EXPECT_EQ(windows.signals(), 40000u) << "the ring's, where it comes from the other node";
  EXPECT_EQ(world.run(1, {}),
            "program 'a2a4_1': with the programs before it, its connections over the network take 80002 signals on a "
            "rank; NCCL's GIN has 65536: compile it with fewer channels or FIFO slots");
}

/// Ranks go by what the one with the fewest has.
TEST_F(LsaNetwork, ContextsAreAlikeOnAllRanks) {
  windows.contexts[1] = 3;
  LsaWorld world(fake, windows, {allToAll(4, 1), ringAllReduce(4, false)});
  EXPECT_EQ(world.joined[0].rank->programs()->contexts(), 3u);
  EXPECT_EQ(world.run(0, {.count = 100}), "");
  EXPECT_EQ(world.run(1, {.count = 100}), "");
}

/// Programs within nodes run all the same.
TEST_F(LsaNetwork, APairWithoutATransportIsNamed) {
  const std::string pair =
      "program 'ring4_1': ranks 0 and 3, which it connects, do not reach each other's memory, and ";
  windows.hasPart = false;
  {
    LsaWorld world(fake, windows, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.made(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 0 has no libgc3gin.so, which goes between nodes");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  windows.hasPart = true;
  windows.partFor = 22902;
  {
    LsaWorld world(fake, windows, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.made(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 0 has a libgc3gin.so that was built with NCCL 2.29.2, and runs NCCL "
                                       "2.28.9: it takes one that was built with this NCCL");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  windows.partFor = 22809;
  windows.contexts[2] = 0;
  {
    LsaWorld world(fake, windows, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.made(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 2 could not get a network of NCCL's GIN");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  EXPECT_EQ(windows.partCalls, 4u) << "nothing of another NCCL's is called";
}

/// Nothing between nodes is wanted, so nothing is asked of the part or of GIN.
TEST_F(LsaNetwork, WithoutNeedThereIsNoNetwork) {
  LsaWorld within(fake, windows, {pairs(4)});
  EXPECT_EQ(within.run(0, {.count = 5}), "");
  windows.teamSize = 0;
  LsaWorld one(fake, windows, {ringAllReduce(4, false)});
  EXPECT_EQ(one.run(0, {.count = 5}), "");
  EXPECT_EQ(windows.partCalls, 0u);
}

/// The other ranks' messages never come: the kernel is stopped, and says what it waited for.
TEST_F(LsaNetwork, AMissingRankIsATimeout) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  LsaWorld world(fake, windows, {ringAllReduce(4, false)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> calls{world.part(0, buffers.requests[0])};
  lsa::run(calls, world.nccl);
  EXPECT_EQ(calls[0].outcome.text, "");
  const cuda::Watchdog::Clock::time_point start{};
  lsa::Rank &rank = *world.joined[0].rank;
  EXPECT_TRUE(rank.watch(start).ok());
  EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(1000)).code, gc3Timeout);
  EXPECT_EQ(rank.watch(start + std::chrono::milliseconds(1001)).text,
            "a kernel has not ended in 1000 ms and was stopped; program 'ring4_1':\n"
            "  rank 0 thread block 0 step 1 (rrs, tile 0) waits for a message from rank 3 on channel 0");
}

/// What nobody takes does not end the call that sent it, since its memory is still read.
TEST_F(LsaNetwork, ACallEndsWhenWhatItPutHasLanded) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  windows.teamSize = 1;
  LsaWorld world(fake, windows, {broadcast(2, 0)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<lsa::RankCall> root{world.part(0, buffers.requests[0])}, other{world.part(1, buffers.requests[1])};
  lsa::run(root, world.nccl);
  EXPECT_EQ(root[0].outcome.text, "");
  EXPECT_FALSE(fake.isIdle(world.streams[0]));
  lsa::run(other, world.nccl);
  EXPECT_EQ(other[0].outcome.text, "");
  EXPECT_EQ(world.finish(trial, buffers), "");
  lsa::run(root, world.nccl);
  lsa::Rank &rank = *world.joined[0].rank;
  const cuda::Watchdog::Clock::time_point start{};
  EXPECT_TRUE(rank.watch(start).ok());
  rank.watch(start + std::chrono::milliseconds(1000));
  EXPECT_NE(rank.watch(start + std::chrono::milliseconds(1001)).text.find("(send, tile 0) waits for"),
            std::string::npos);
}

TEST_F(LsaNetwork, AbortLeavesNcclAlone) {
  LsaWorld world(fake, windows, {ringAllReduce(4, false)});
  ASSERT_EQ(world.run(0, {}), "");
  for (const lsa::Joined &rank : world.joined)
    rank.rank->abort();
  for (ncclapi::Comm comm : world.comms)
    windows.free(comm);
  const uint64_t used = windows.used;
  world.joined.clear();
  EXPECT_EQ(windows.used, used);
  leaks =
      "16 pieces of memory 4 pieces of pinned memory 4 pieces of symmetric memory 4 windows 4 device communicators ";
}

} // namespace
