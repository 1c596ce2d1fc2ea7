// SPDX-License-Identifier: Apache-2.0
// If each rank has its own GPU, calls have the same results as with the host executor.
#include "CommSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;

namespace {

std::vector<ProgramSpec> programsOf3() {
  ProgramSpec wholeSlots = ringAllReduce(3, true, 2);
  wholeSlots.wholeSlots = true;
  wholeSlots.name = "whole";
  return {ringAllReduce(3, false), plainRingAllReduce(3), allToAll(3, 2), allGather(3, true),
          reduceScatter(3, false), broadcast(3, 1),       reduceTo(3, 2), gather(3, 1),
          scatter(3, 0),           writesInput(3),        wholeSlots,     oneMessage(3)};
}

/// Programs alternate on one communicator. They share connections, whose counters persist across programs.
TEST(Comm, CallsLeaveWhatTheHostLeaves) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    CommWorld world(fake, nccl, programsOf3());
    ASSERT_EQ(world.joinProblem(), "");
    for (bool inPlace : {false, true})
      for (ElementType type : {ElementType::Float, ElementType::Int32, ElementType::Bfloat16})
        for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg})
          for (uint64_t count : {1, 6, 151})
            for (size_t program = 0; program < world.names.size(); ++program) {
              const TrialOptions options{count, type, op, inPlace, static_cast<uint32_t>(count % 3), ++fake.seed};
              if (world.trial(program, options).exists()) {
                EXPECT_EQ(world.run(program, options), "");
              }
            }
  }
  EXPECT_EQ(nccl.leaks(), "");
}

/// A rank allocates on its own GPU, whatever device is current when the application calls gc3.
TEST(Comm, RanksTakeMemoryOfTheirOwnGpus) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  fake.currentDevice = 7;
  CommWorld world(fake, nccl, {ringAllReduce(3, false), allToAll(3, 2)});
  ASSERT_EQ(world.joinProblem(), "");
  auto expectAlike = [&] {
    for (int device : {0, 1, 2})
      EXPECT_EQ(fake.allocated(device), fake.allocated(0)) << "device " << device;
    EXPECT_EQ(fake.allocated(7), (std::array<size_t, 3>{}));
    EXPECT_EQ(fake.currentDevice, 7);
  };
  expectAlike();
  for (bool inPlace : {true, false})
    for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg})
      for (size_t program : {0, 1}) {
        if (const TrialOptions options{.count = 151, .op = op, .inPlace = inPlace};
            world.trial(program, options).exists()) {
          EXPECT_EQ(world.run(program, options), "");
          expectAlike();
        }
      }
}

TEST(Comm, CallsMultiplyAsTheHostDoes) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    CommWorld world(fake, nccl, programsOf3());
    ASSERT_EQ(world.joinProblem(), "");
    for (bool inPlace : {false, true})
      for (ElementType type : {ElementType::Uint8, ElementType::Double, ElementType::Half})
        for (Scalars scalars : {Scalars::Immediate, Scalars::InMemory})
          for (uint64_t count : {6, 151})
            for (size_t program = 0; program < world.names.size(); ++program)
              EXPECT_EQ(world.run(program, {count, type, ReduceOp::Sum, inPlace, static_cast<uint32_t>(count % 3),
                                            ++fake.seed, scalars}),
                        "");
  }
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(Comm, RanksMayBeAheadOfOthers) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    std::vector<ProgramSpec> programs;
    for (auto protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128})
      for (const ProgramSpec &spec : {ringAllReduce(3, false), plainRingAllReduce(3), allToAll(3, 2)})
        programs.push_back(under(protocol, spec));
    CommWorld world(fake, nccl, programs);
    ASSERT_EQ(world.joinProblem(), "");
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      fake.seed = seed;
      EXPECT_EQ(world.runOutOfStep(seed), "") << "seed " << seed;
    }
  }
  EXPECT_EQ(nccl.leaks(), "");
}

/// From version 2.29 on, gc3 gets the addresses of peers from ncclGetLsaDevicePointer.
TEST(Comm, WindowsOfNccl229) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.version = ncclapi::devicePointerVersion;
  {
    CommWorld world(fake, nccl, {ringAllReduce(4, true)});
    EXPECT_EQ(world.run(0, {.count = 100}), "");
  }
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(Comm, ProgramsShareConnections) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  CommWorld world(fake, nccl,
                  {ringAllReduce(3, false), plainRingAllReduce(3), allToAll(3, 2),
                   under(kernel::Protocol::LL, ringAllReduce(3, false))});
  const uint64_t before = nccl.windowsMade;
  EXPECT_EQ(world.run(0, {}), "");
  EXPECT_EQ(nccl.windowsMade, before + 3) << "the ring's connections, on each rank";
  EXPECT_EQ(world.run(1, {}), "");
  EXPECT_EQ(nccl.windowsMade, before + 3) << "the same ring";
  EXPECT_EQ(world.run(2, {}), "");
  EXPECT_EQ(nccl.windowsMade, before + 6) << "the other way round";
  EXPECT_EQ(world.run(3, {}), "");
  EXPECT_EQ(nccl.windowsMade, before + 9) << "another protocol";
}

/// gc3 launches the calls of the ranks in turn, whatever their order in the group. Otherwise, CUDA could block the
/// thread after many pending launches on one GPU, which wait for later launches of other ranks.
TEST(Comm, RanksTakeTurns) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  CommWorld world(fake, nccl, {ringAllReduce(3, true)});
  ASSERT_EQ(world.run(0, {}), "");
  fake.launchedOn.clear();
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<comm::CallGroup::Call> calls;
  for (size_t rank : {0, 0, 0, 1, 1, 2, 1, 2, 2})
    calls.push_back(world.part(rank, buffers.requests[rank]));
  comm::CallGroup::run(calls);
  std::vector<cuda::Stream> turns;
  for (int turn = 0; turn < 3; ++turn)
    turns.insert(turns.end(), world.streams.begin(), world.streams.end());
  EXPECT_EQ(fake.launchedOn, turns);
}

TEST(Comm, GraphsReplay) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  CommWorld world(fake, nccl, {ringAllReduce(3, false), allToAll(3, 1)});
  const TrialOptions options{.count = 77, .inPlace = true, .seed = 5};
  const Trial trial = world.trial(0, options);
  Loopback::Buffers buffers(fake, trial);
  auto callAll = [&] {
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank = 0; rank < 3; ++rank)
      calls.push_back(world.part(rank, buffers.requests[rank]));
    comm::CallGroup::run(calls);
    return calls;
  };
  fake.captured = true;
  for (const comm::CallGroup::Call &call : callAll()) {
    EXPECT_TRUE(isRunByNccl(call));
    EXPECT_EQ(call.outcome.text,
              "program '" + world.names[0] +
                  "' cannot be loaded while the stream is captured; make one such call before the capture");
  }
  fake.captured = false;
  ASSERT_EQ(world.run(0, options), "");
  fake.captured = true;
  for (const comm::CallGroup::Call &call : callAll())
    EXPECT_EQ(call.outcome.text, "");
  fake.captured = false;
  for (int i = 0; i < 3; ++i) {
    buffers.fill();
    fake.replay();
    EXPECT_EQ(world.finish(trial, buffers), "");
    EXPECT_EQ(world.run(1, {.count = 9}), ""); // another program runs between the replays
  }
}

} // namespace
