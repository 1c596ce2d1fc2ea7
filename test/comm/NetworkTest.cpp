// SPDX-License-Identifier: Apache-2.0
// Tests ranks in several LSA teams: programs that use the emulated network, and refusals of programs without a network.
#include "CommSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;

namespace {

class CommNetwork : public testing::Test {
protected:
  /// Puts two ranks on each node.
  CommNetwork() { nccl.teamSize = 2; }
  void TearDown() override {
    EXPECT_EQ(nccl.leaks(), leaks);
    EXPECT_EQ(nccl.messagesInFlight(), 0u);
  }

  FakeCuda fake;
  FakeNccl nccl{fake};
  std::string leaks;
};

/// Programs have connections within nodes and between nodes, and share them with other programs.
TEST_F(CommNetwork, CallsLeaveWhatTheHostLeaves) {
  CommWorld world(fake, nccl,
                  {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2), allGather(4, true), broadcast(4, 1),
                   reduceTo(4, 2), writesInput(4), pairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  EXPECT_EQ(nccl.networksMade, 4u);
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

/// A connection has eight slots. The receiver returns four slots with one signal, and the rest at the end of a call.
TEST_F(CommNetwork, SlotsAreGivenBackInBatches) {
  nccl.teamSize = 1;
  CommWorld world(fake, nccl, {pairs(4)});
  EXPECT_EQ(world.run(0, {.count = 64 * 10}), ""); // 2560 bytes: each rank receives ten messages, in slots of 256 bytes
  EXPECT_EQ(nccl.slotsReturned(), 4u * 3);
}

/// If teams have a stride, gc3 treats each rank as a node of its own. So all connections need the network.
TEST_F(CommNetwork, TeamsWithAStride) {
  nccl.teamStride = 2;
  for (int version : {22809, ncclapi::devicePointerVersion}) {
    nccl.version = nccl.partFor = version;
    CommWorld world(fake, nccl, {plainRingAllReduce(4), pairs(4), shiftReversed(4, 2)});
    ASSERT_EQ(world.joinProblem(), "");
    for (uint32_t program = 0; program < 3; ++program) {
      EXPECT_TRUE(world.ranks[0]->programs()->entry(program).overNetwork);
      EXPECT_EQ(world.run(program, {.count = 90}), "");
    }
    EXPECT_EQ(world.ranks[0]->programs()->teams(), (std::vector<uint32_t>{0, 1, 2, 3}));
  }
  nccl.hasPart = false;
  CommWorld world(fake, nccl, {pairs(4)});
  EXPECT_EQ(world.run(0, {}),
            "program 'pairs': ranks 0 and 1, which it connects, do not reach each other's memory, and "
            "rank 0 has no libgc3gin.so, which sends between nodes");
  EXPECT_EQ(nccl.splits, 12u) << "the children of three communicators";
}

/// A program that uses the network runs under Simple, whatever its own protocol. A program within nodes keeps its
/// protocol.
TEST_F(CommNetwork, OverTheNetworkAllIsSimple) {
  ProgramSpec ring = ringAllReduce(4, false), within = pairs(4);
  ring.protocol = within.protocol = static_cast<uint8_t>(kernel::Protocol::LL);
  CommWorld world(fake, nccl, {ring, within});
  ASSERT_EQ(world.joinProblem(), "");
  const comm::ProgramTable &programs = *world.ranks[2]->programs();
  EXPECT_EQ(programs.entry(0).sizes.protocol, kernel::Protocol::Simple);
  EXPECT_EQ(programs.entry(1).sizes.protocol, kernel::Protocol::LL);
  EXPECT_TRUE(programs.entry(0).overNetwork);
  EXPECT_FALSE(programs.entry(1).overNetwork);
  EXPECT_EQ(world.run(0, {.count = 90}), "");
  EXPECT_EQ(world.run(1, {.count = 90}), "");
}

/// All ranks make the same calls, but some ranks are ahead of others. The network's signals persist from call to call.
TEST_F(CommNetwork, RanksMayBeAheadOfOthers) {
  CommWorld world(fake, nccl, {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2), pairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
}

/// Each node has one rank, so every connection uses the network. Also replays graphs.
TEST_F(CommNetwork, ARankOnEachNode) {
  nccl.teamSize = 1;
  CommWorld world(fake, nccl, {plainRingAllReduce(3), allToAll(3, 2), ringAllReduce(3, true)});
  ASSERT_EQ(world.joinProblem(), "");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    fake.seed = seed;
    EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
  }
  const TrialOptions options{.count = 77, .inPlace = true};
  ASSERT_EQ(world.run(2, options), "");
  const Trial trial = world.trial(2, options);
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> calls;
  for (size_t rank = 0; rank < 3; ++rank)
    calls.push_back(world.part(rank, buffers.requests[rank]));
  fake.captured = true;
  comm::CallGroup::run(calls);
  fake.captured = false;
  for (int i = 0; i < 3; ++i) {
    buffers.fill();
    fake.replay();
    EXPECT_EQ(world.finish(trial, buffers), "");
    EXPECT_EQ(world.run(1, {.count = 9}), ""); // another program runs between the replays
  }
}

/// gc3 creates exactly as many signals as the connections of all programs need. A connection that programs share counts
/// once.
TEST_F(CommNetwork, SignalsAreThoseOfAllPrograms) {
  const cuda::Options options = tuned({.slots = 3, .slotBytes = 256, .threads = 32});
  CommWorld world(fake, nccl, {ringAllReduce(4, false), plainRingAllReduce(4), allToAll(4, 2)}, options);
  EXPECT_EQ(nccl.signals(), 2 * (3 + 1u)) << "two ranks of the other node: their slots, and what they give back";
}

TEST_F(CommNetwork, TooManySignals) {
  const cuda::Options options = tuned({.slots = 40000, .slotBytes = 256, .threads = 32});
  CommWorld world(fake, nccl, {ringAllReduce(4, false), allToAll(4, 1), pairs(4)}, options);
  ASSERT_EQ(world.joinProblem(), "");
  EXPECT_EQ(nccl.signals(), 40000u) << "the ring's, where it comes from the other node";
  EXPECT_EQ(world.run(1, {}),
            "program 'a2a4_1': with the programs before it, its connections over the network take 80002 signals on a "
            "rank; NCCL's GIN has 65536: compile it with fewer channels or FIFO slots");
}

/// All ranks use as many network contexts as the rank with the fewest has.
TEST_F(CommNetwork, ContextsAreAlikeOnAllRanks) {
  nccl.contexts[1] = 3;
  CommWorld world(fake, nccl, {allToAll(4, 1), ringAllReduce(4, false)});
  EXPECT_EQ(world.ranks[0]->programs()->contexts(), 3u);
  EXPECT_EQ(world.run(0, {.count = 100}), "");
  EXPECT_EQ(world.run(1, {.count = 100}), "");
}

/// Without a network, a program that needs it is refused, and a program within nodes runs.
TEST_F(CommNetwork, APairWithoutATransportIsNamed) {
  const std::string pair =
      "program 'ring4_1': ranks 0 and 3, which it connects, do not reach each other's memory, and ";
  nccl.hasPart = false;
  {
    CommWorld world(fake, nccl, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 0 has no libgc3gin.so, which sends between nodes");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  nccl.hasPart = true;
  nccl.partFor = 22902;
  {
    CommWorld world(fake, nccl, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 0 has a libgc3gin.so that was built with NCCL 2.29.2, and runs NCCL "
                                       "2.28.9: use one that was built with this NCCL");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  nccl.partFor = 22809;
  nccl.contexts[2] = 0;
  {
    CommWorld world(fake, nccl, {ringAllReduce(4, false), pairs(4)});
    ASSERT_EQ(world.joinProblem(), "");
    EXPECT_EQ(world.run(0, {}), pair + "rank 2 could not get a network of NCCL's GIN");
    EXPECT_EQ(world.run(1, {.count = 100}), "");
  }
  EXPECT_EQ(nccl.partCalls, 4u) << "nothing of another NCCL's is called";
}

/// No program sends between nodes, so gc3 calls neither libgc3gin.so nor NCCL's GIN.
TEST_F(CommNetwork, WithoutNeedThereIsNoNetwork) {
  CommWorld within(fake, nccl, {pairs(4)});
  EXPECT_EQ(within.run(0, {.count = 5}), "");
  nccl.teamSize = 0;
  CommWorld one(fake, nccl, {ringAllReduce(4, false)});
  EXPECT_EQ(one.run(0, {.count = 5}), "");
  EXPECT_EQ(nccl.partCalls, 0u);
}

/// The other ranks make no call, so their messages never arrive. gc3 stops the kernel, and reports the dependency that
/// it waited for.
TEST_F(CommNetwork, AMissingRankIsATimeout) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  CommWorld world(fake, nccl, {ringAllReduce(4, false)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> calls{world.part(0, buffers.requests[0])};
  comm::CallGroup::run(calls);
  EXPECT_EQ(calls[0].outcome.text, "");
  EXPECT_EQ(awaitStopReport(*world.ranks[0]),
            "a kernel has not ended in 1000 ms and was stopped; program 'ring4_1':\n"
            "  rank 0 thread block 0 step 1 (rrs, tile 0) waits for a message from rank 3 on channel 0");
}

/// A call ends only after its peers have received its messages: until then, the network can still read their memory.
TEST_F(CommNetwork, ACallEndsWhenWhatItPutHasLanded) {
  cuda::Options options = smallOptions();
  options.timeoutMs = 1000;
  nccl.teamSize = 1;
  CommWorld world(fake, nccl, {broadcast(2, 0)}, options);
  ASSERT_EQ(world.run(0, {}), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> root{world.part(0, buffers.requests[0])},
      other{world.part(1, buffers.requests[1])};
  comm::CallGroup::run(root);
  EXPECT_EQ(root[0].outcome.text, "");
  EXPECT_FALSE(fake.isIdle(world.streams[0]));
  comm::CallGroup::run(other);
  EXPECT_EQ(other[0].outcome.text, "");
  EXPECT_EQ(world.finish(trial, buffers), "");
  comm::CallGroup::run(root);
  EXPECT_NE(awaitStopReport(*world.ranks[0]).find("(send, tile 0) waits for"), std::string::npos);
}

/// When gc3 aborts the child, NCCL frees the device communicator with it.
TEST_F(CommNetwork, AnAbortReleasesEverything) {
  CommWorld world(fake, nccl, {ringAllReduce(4, false)});
  ASSERT_EQ(world.run(0, {}), "");
  for (const auto &rank : world.ranks)
    abort(rank);
}

} // namespace
