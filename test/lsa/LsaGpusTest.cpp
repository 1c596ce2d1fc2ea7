// SPDX-License-Identifier: Apache-2.0
// What the ranks' GPUs can hold and compute, which all ranks take into account alike.
#include "LsaSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using host::ElementType;
using host::ReduceOp;

namespace {

/// One launch holds its blocks until the end, so all ranks of a GPU need room at once.
TEST(LsaGpus, RanksOnOneGpuShareItsRoom) {
  const auto file = open({ringAllReduce(3, false)}); // a thread block each
  std::unique_ptr<host::Program> program;
  ASSERT_TRUE(host::Program::load(*file, 0, program).ok());
  std::vector<lsa::Record> records(3);
  for (lsa::Record &record : records) {
    record.room = {2, 2, 2}, record.peerEnd = 3, record.host = 7;
    std::snprintf(record.busId, sizeof record.busId, "0000:1b:00.0");
  }
  EXPECT_EQ(lsa::whyNot(*program, device::Protocol::Simple, records),
            "program 'ring3_1': rank 0 has 3 thread blocks, those of ranks on the same GPU included, and its GPU can "
            "hold 2 at once");
  records[1].busId[5] = '2';
  EXPECT_EQ(lsa::whyNot(*program, device::Protocol::Simple, records), "");
  records[1] = records[0];
  records[1].host = 8;
  EXPECT_EQ(lsa::whyNot(*program, device::Protocol::Simple, records), "");
  for (lsa::Record &record : records)
    record.host = 0; // not known
  EXPECT_EQ(lsa::whyNot(*program, device::Protocol::Simple, records), "");
}

/// So their blocks have fewer threads than one rank's alone could have.
TEST(LsaGpus, RanksOnOneGpuLeaveRoomForEachOther) {
  FakeCuda fake;
  FakeWindows windows(fake);
  windows.ranksPerGpu = 2;
  fake.multiprocessors = 1;
  fake.threadsPerMultiprocessor = 128;
  LsaWorld world(fake, windows, {ringAllReduce(4, false)}, tuned({.slotBytes = 256})); // a thread block each
  ASSERT_EQ(world.made(), "");
  EXPECT_EQ(world.run(0, {.count = 50}), "");
  EXPECT_EQ(fake.threadsOfLaunch, 64u);
}

TEST(LsaGpus, MoreBlocksThanTheirGpuHolds) {
  FakeCuda fake;
  FakeWindows windows(fake);
  fake.multiprocessorsOf[2] = 1;
  fake.threadsPerMultiprocessor = 32;
  LsaWorld world(fake, windows, {plainRingAllReduce(3)});
  EXPECT_EQ(world.run(0, {}),
            "program '" + world.names[0] + "': rank 2 has 2 thread blocks, and its GPU can hold 1 at once");
}

/// Threads are chosen for each protocol, and so is the room.
TEST(LsaGpus, MoreThreadsThanTheirGpuHolds) {
  FakeCuda fake;
  FakeWindows windows(fake);
  fake.multiprocessorsOf[2] = 1;
  fake.threadsPerMultiprocessor = 64;
  cuda::Options options = smallOptions();
  options.tuning[static_cast<size_t>(device::Protocol::LL)].threads = 64;
  LsaWorld world(fake, windows, {plainRingAllReduce(3), under(device::Protocol::LL, plainRingAllReduce(3))}, options);
  EXPECT_EQ(world.run(0, {}), "");
  EXPECT_EQ(world.run(1, {}),
            "program '" + world.names[1] + "': rank 2 has 2 thread blocks, and its GPU can hold 1 at once");
}

/// Decided for the oldest GPU, and before anybody is asked to load.
TEST(LsaGpus, CallsThatNoRankCanMake) {
  FakeCuda fake;
  FakeWindows windows(fake);
  fake.architecture = 89;
  LsaWorld world(fake, windows, {ringAllReduce(3, true), shiftReversed(3, 2)});
  EXPECT_EQ(world.run(0, {.type = ElementType::Float8E4M3}),
            "f8e4m3 can't be reduced on a GPU of sm_89; it takes sm_90 or later");
  EXPECT_EQ(world.run(1, {.op = ReduceOp::Avg}), "avg is not defined for program '" + world.names[1] +
                                                     "': its outputs have different numbers of contributions");
  EXPECT_EQ(world.run(0, {.count = 0}), "");
  EXPECT_EQ(fake.launches, 0u);
}

/// Those with newer ones refuse alike, or they would wait for the one that must.
TEST(LsaGpus, GpusThatDifferInAge) {
  for (int older : {0, 2}) {
    FakeCuda fake;
    FakeWindows windows(fake);
    fake.architecture = 100;
    fake.architectureOf = {{1, 90}, {older, 89}};
    LsaWorld world(fake, windows, {ringAllReduce(3, true), shiftReversed(3, 2)});
    ASSERT_EQ(world.made(), "");
    const Trial trial = world.trial(0, {.type = ElementType::Float8E4M3});
    Loopback::Buffers buffers(fake, trial);
    for (size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(world.part(rank, buffers.requests[rank]).outcome.text,
                "f8e4m3 can't be reduced on a GPU of sm_89; it takes sm_90 or later");
    EXPECT_EQ(world.run(0, {.type = ElementType::Half}), "");
    EXPECT_EQ(world.run(1, {.type = ElementType::Float8E4M3}), "") << "a copy";
  }
}

} // namespace
