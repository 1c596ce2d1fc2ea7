// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other while the application has a group of NCCL's open goes nowhere before that ends.
#include "LsaSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

class LsaOpenGroup : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(windows.leaks(), leaks); }

  static constexpr auto why =
      "a group of NCCL's is open, in which ranks can't tell each other anything, or the communicator was revoked";
  std::string leaks;
  FakeCuda fake;
  FakeWindows windows{fake};
  const ncclapi::Nccl nccl = windows.table();
};

TEST_F(LsaOpenGroup, NobodyJoins) {
  nccl.GroupStart();
  {
    const LsaWorld world(fake, windows, {ringAllReduce(3, true)});
    EXPECT_EQ(world.made(), why);
    EXPECT_EQ(world.joined[0].outcome.code, gc3InvalidUsage);
    EXPECT_EQ(fake.launches, 0u);
  }
  // Of each rank, what NCCL uses now: memory for the gather, the word to stop, and a stream.
  EXPECT_EQ(nccl.GroupEnd(), ncclapi::Result::Success);
  EXPECT_TRUE(windows.revoked.empty());
  leaks = "3 pieces of memory 3 pieces of pinned memory 3 streams ";
}

/// Nor does it where the communicator does not block, which stays as it is.
TEST_F(LsaOpenGroup, NobodyJoinsWhatDoesNotBlock) {
  windows.blocks = false;
  {
    const LsaWorld world(fake, windows, {ringAllReduce(3, true)});
    EXPECT_EQ(world.made(), "closing a group: the NCCL communicator does not block");
    for (const lsa::Joined &rank : world.joined)
      EXPECT_EQ(rank.outcome.code, gc3InvalidUsage);
  }
  EXPECT_TRUE(windows.revoked.empty());
  leaks = "3 pieces of memory 3 pieces of pinned memory 3 streams ";
}

/// Its calls from before come to their end, and so does what NCCL has.
TEST_F(LsaOpenGroup, NothingIsLoaded) {
  {
    LsaWorld world(fake, windows, {ringAllReduce(3, true), allToAll(3, 2)});
    EXPECT_EQ(world.made(), "");
    EXPECT_EQ(world.run(0, {}), "");
    nccl.GroupStart();
    EXPECT_EQ(world.run(0, {}), ""); // which needs no loading
    EXPECT_EQ(world.run(1, {}), why);
    EXPECT_EQ(world.run(0, {}), why);
    EXPECT_EQ(nccl.GroupEnd(), ncclapi::Result::Success);
    for (const lsa::Joined &rank : world.joined) {
      EXPECT_EQ(rank.rank->broken().code, gc3InvalidUsage);
      EXPECT_EQ(rank.rank->watch({}).text, why);
    }
    EXPECT_EQ(fake.launches, 6u);
  }
  EXPECT_TRUE(windows.revoked.empty());
  // Of each rank now also its two programs with their windows, of which one is registered.
  leaks = "12 pieces of memory 3 pieces of pinned memory 3 streams 6 pieces of symmetric memory 3 windows ";
}

/// Others hear of it when the group ends, whether they come later or wait already.
TEST_F(LsaOpenGroup, OthersHearOfIt) {
  for (const bool waiting : {false, true}) {
    LsaWorld world(fake, windows, {allToAll(3, 2)});
    ASSERT_EQ(world.made(), "");
    const Trial trial = world.trial(0, {});
    Loopback::Buffers buffers(fake, trial);
    std::vector<lsa::RankCall> calls;
    for (size_t rank = 0; rank < 3; ++rank)
      calls.push_back(world.part(rank, buffers.requests[rank]));
    const std::span<lsa::RankCall> some = std::span(calls).first(1), others = std::span(calls).subspan(1);
    const auto runInGroup = [&] {
      nccl.GroupStart();
      lsa::run(some, nccl);
      EXPECT_EQ(nccl.GroupEnd(), ncclapi::Result::Success);
    };
    if (waiting)
      fake.whileAsked = [&, asked = 0]() mutable {
        if (++asked == 3)
          runInGroup();
      };
    else
      runInGroup();
    lsa::run(others, nccl);
    fake.whileAsked = nullptr;
    EXPECT_EQ(some[0].outcome.text, why);
    for (const lsa::RankCall &call : others) {
      EXPECT_EQ(call.outcome.text, "rank 0 had a group of NCCL's open, in which ranks can't tell each other anything");
      EXPECT_EQ(call.rank->broken().text, call.outcome.text);
    }
    EXPECT_TRUE(windows.revoked.empty());
    EXPECT_EQ(fake.launches, 0u);
  }
  // Of rank 0, twice.
  leaks = "4 pieces of memory 2 pieces of pinned memory 2 streams 2 pieces of symmetric memory ";
}

/// What the application tells over the communicator between our messages is not one of them.
TEST_F(LsaOpenGroup, OtherOrdersOfCalls) {
  LsaWorld world(fake, windows, {allToAll(2, 2)});
  ASSERT_EQ(world.made(), "");
  const Trial trial = world.trial(0, {});
  Loopback::Buffers buffers(fake, trial);
  std::vector<std::byte *> memory;
  const auto gatherOwn = [&](size_t rank) {
    constexpr size_t size = 28; // of a message of ours
    memory.push_back(fake.allocate(3 * size));
    EXPECT_EQ(nccl.AllGather(memory.back(), memory.back() + size, size, ncclapi::DataType::Int8, world.comms[rank],
                             reinterpret_cast<ncclapi::Stream>(world.streams[rank])),
              ncclapi::Result::Success);
  };
  gatherOwn(0);
  for (size_t rank : {1, 0}) {
    std::vector<lsa::RankCall> calls{world.part(rank, buffers.requests[rank])};
    lsa::run(calls, nccl);
    EXPECT_EQ(calls[0].outcome.code, gc3InvalidUsage);
    EXPECT_EQ(calls[0].outcome.text,
              "rank " + std::to_string(1 - rank) +
                  " has told something else: not all ranks have the same order of calls on the NCCL communicator and "
                  "of calls that make gc3 tell something over it");
    if (rank == 1)
      gatherOwn(1);
  }
  for (std::byte *piece : memory)
    fake.release(piece);
}

} // namespace
