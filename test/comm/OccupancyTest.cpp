// SPDX-License-Identifier: Apache-2.0
// Tests decisions that follow from the occupancy limits and architectures of the ranks' GPUs. All ranks decide the
// same.
#include "CommSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;

namespace {

/// Ranks that share a GPU. A launch keeps its thread blocks until it ends, so the blocks of all ranks must fit at once.
class CommSharedRoom : public testing::Test {
protected:
  void SetUp() override {
    for (comm::RankInfo &record : records) {
      record.blockLimits = {4, 3, 4}, record.networkBlockLimit = 2, record.peerEnd = 3, record.host = 7;
      std::snprintf(record.busId, sizeof record.busId, "0000:1b:00.0");
    }
    ASSERT_TRUE(core::Program::load(*file, 0).moveTo(one).ok());
    ASSERT_TRUE(core::Program::load(*file, 1).moveTo(two).ok());
  }

  const std::unique_ptr<bundle::BundleFile> file = open({ringAllReduce(3, false), plainRingAllReduce(3)});
  std::unique_ptr<core::Program> one, two; ///< programs with one and two thread blocks on each rank
  std::vector<comm::RankInfo> records{3};
};

TEST_F(CommSharedRoom, IsThatOfAllRanksOnAGpu) {
  const std::string three = "rank 0 and other ranks on its GPU can have 3 thread blocks, each in any program, and its "
                            "GPU can hold 2 at once";
  EXPECT_EQ(comm::OccupancyBudget(records).add(*one, kernel::Protocol::LL, false), "");
  EXPECT_EQ(comm::OccupancyBudget(records).add(*one, kernel::Protocol::LL, true), three);
  records[1].busId[5] = '2';
  EXPECT_EQ(comm::OccupancyBudget(records).add(*one, kernel::Protocol::LL, true), "");
  records[1] = records[0];
  records[1].host = 8;
  EXPECT_EQ(comm::OccupancyBudget(records).add(*one, kernel::Protocol::LL, true), "");
  for (comm::RankInfo &record : records)
    record.host = 0; // 0: it is not known whether ranks share a machine
  EXPECT_EQ(comm::OccupancyBudget(records).add(*two, kernel::Protocol::LL, true), "");
  records[2].networkBlockLimit = 1;
  EXPECT_EQ(comm::OccupancyBudget(records).add(*two, kernel::Protocol::LL, true),
            "rank 2 has 2 thread blocks, and its GPU can hold 1 at once");
}

/// A rank can run its next program before another rank begins the previous one. So each rank counts with its largest
/// program.
TEST_F(CommSharedRoom, IsThatOfAnyProgramsAtOnce) {
  records[2].host = 8;
  comm::OccupancyBudget room(records);
  EXPECT_EQ(room.add(*one, kernel::Protocol::LL, false), "");
  EXPECT_EQ(room.blocksOfOthers(0), 1u);
  EXPECT_EQ(room.blocksOfOthers(2), 0u);
  EXPECT_EQ(room.add(*two, kernel::Protocol::Simple, false), "");
  EXPECT_EQ(room.blocksOfOthers(0), 2u);
  EXPECT_EQ(
      room.add(*one, kernel::Protocol::Simple, true),
      "rank 0 and other ranks on its GPU can have 3 thread blocks, each in any program, and its GPU can hold 2 at "
      "once");
  EXPECT_EQ(
      room.add(*two, kernel::Protocol::LL, false),
      "rank 0 and other ranks on its GPU can have 4 thread blocks, each in any program, and its GPU can hold 3 at "
      "once");
  EXPECT_EQ(room.add(*one, kernel::Protocol::LL128, false), "") << "what was refused takes no room";
  EXPECT_EQ(room.blocksOfOthers(1), 2u);
  comm::OccupancyBudget other(records);
  EXPECT_NE(other.add(*two, kernel::Protocol::Simple, true), "");
  EXPECT_EQ(other.blocksOfOthers(0), 0u);
  EXPECT_EQ(other.add(*one, kernel::Protocol::Simple, true), "");
  EXPECT_EQ(other.blocksOfOthers(0), 1u);
}

/// If ranks share a GPU, their blocks have fewer threads than the blocks of a single rank would have.
TEST(CommGpus, RanksOnOneGpuLeaveRoomForEachOther) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.ranksPerGpu = 2;
  fake.multiprocessors = 1;
  fake.threadsPerMultiprocessor = 128;
  // The program has one thread block on each rank.
  CommWorld world(fake, nccl, {ringAllReduce(4, false)}, tuned({.slotBytes = 256}));
  ASSERT_EQ(world.joinProblem(), "");
  EXPECT_EQ(world.run(0, {.count = 50}), "");
  EXPECT_EQ(fake.threadsOfLaunch, 64u);
  EXPECT_EQ(fake.cooperativeLaunches, 0u) << "two such launches might not run beside each other";
  CommWorld two(fake, nccl, {ringAllReduce(4, false), plainRingAllReduce(4)}, tuned({.slotBytes = 256}));
  EXPECT_EQ(two.run(0, {.count = 50}), "");
  EXPECT_EQ(fake.threadsOfLaunch, 32u) << "beside the other program's two blocks on the neighbour";
}

/// A program that can't run does not count: the other program gets its own number of FIFO slots.
TEST(CommGpus, WhatIsRefusedHasNoSlots) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.teamSize = 2;
  nccl.hasPart = false;
  ProgramSpec refused = ringAllReduce(4, false);
  refused.fifoSlots = 64;
  CommWorld world(fake, nccl, {refused, pairs(4)});
  ASSERT_EQ(world.joinProblem(), "");
  const comm::ProgramTable &programs = *world.ranks[1]->programs();
  EXPECT_NE(programs.entry(0).refusal, "");
  EXPECT_EQ(programs.entry(1).sizes.slots, pairs(4).fifoSlots);
}

TEST(CommGpus, MoreBlocksThanTheirGpuHolds) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.multiprocessorsOf[2] = 1;
  fake.threadsPerMultiprocessor = 32;
  CommWorld world(fake, nccl, {plainRingAllReduce(3)});
  EXPECT_EQ(world.run(0, {}),
            "program '" + world.names[0] + "': rank 2 has 2 thread blocks, and its GPU can hold 1 at once");
}

/// Each protocol has its own number of threads and its own occupancy limit.
TEST(CommGpus, MoreThreadsThanTheirGpuHolds) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.multiprocessorsOf[2] = 1;
  fake.threadsPerMultiprocessor = 64;
  cuda::Options options = smallOptions();
  options.tuning[static_cast<size_t>(kernel::Protocol::LL)].threads = 64;
  CommWorld world(fake, nccl, {plainRingAllReduce(3), under(kernel::Protocol::LL, plainRingAllReduce(3))}, options);
  EXPECT_EQ(world.run(0, {}), "");
  EXPECT_EQ(world.run(1, {}),
            "program '" + world.names[1] + "': rank 2 has 2 thread blocks, and its GPU can hold 1 at once");
}

/// A call fails on all ranks if the oldest GPU can't compute it. It fails before any rank loads the program.
TEST(CommGpus, CallsThatNoRankCanMake) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.architecture = 89;
  CommWorld world(fake, nccl, {ringAllReduce(3, true), shiftReversed(3, 2)});
  EXPECT_EQ(world.run(0, {.type = ElementType::Float8E4M3}),
            "f8e4m3 cannot be reduced on a GPU of sm_89; sm_90 or later is required");
  EXPECT_EQ(world.run(1, {.op = ReduceOp::Avg}), "avg is not defined for program '" + world.names[1] +
                                                     "': its outputs have different numbers of contributions");
  EXPECT_EQ(world.run(0, {.count = 0}), "");
  EXPECT_EQ(fake.launches, 0u);
}

/// Ranks with newer GPUs refuse the call, too. Otherwise they would wait for the rank with the oldest GPU.
TEST(CommGpus, GpusThatDifferInAge) {
  for (int older : {0, 2}) {
    FakeCuda fake;
    FakeNccl nccl(fake);
    fake.architecture = 100;
    fake.architectureOf = {{1, 90}, {older, 89}};
    CommWorld world(fake, nccl, {ringAllReduce(3, true), shiftReversed(3, 2)});
    ASSERT_EQ(world.joinProblem(), "");
    const Trial trial = world.trial(0, {.type = ElementType::Float8E4M3});
    Loopback::Buffers buffers(fake, trial);
    for (size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(world.part(rank, buffers.requests[rank]).outcome.text,
                "f8e4m3 cannot be reduced on a GPU of sm_89; sm_90 or later is required");
    EXPECT_EQ(world.run(0, {.type = ElementType::Half}), "");
    EXPECT_EQ(world.run(1, {.type = ElementType::Float8E4M3}), "") << "a copy";
  }
}

} // namespace
