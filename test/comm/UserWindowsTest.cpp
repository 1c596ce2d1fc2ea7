// SPDX-License-Identifier: Apache-2.0
// If receive buffers lie at the same place of the application's windows, messages between ranks need no slots.
#include "WindowedWorld.h"

#include <array>

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;
using kernel::Place;

namespace {

std::vector<ProgramSpec> programsOf3() {
  return {ringAllReduce(3, false), ringAllReduce(3, true),  plainRingAllReduce(3), allToAll(3, 2),
          allGather(3, true),      reduceScatter(3, false), broadcast(3, 1),       gather(3, 1)};
}

TEST(UserWindows, MessagesNeedNoSlots) {
  FakeCuda fake;
  for (int version : {ncclapi::oldestVersion, ncclapi::devicePointerVersion}) {
    FakeNccl nccl(fake);
    nccl.version = version;
    {
      WindowedWorld world(fake, nccl, {allGather(4, false)});
      EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
      EXPECT_EQ(world.ranksWithCleanSlots(), 4u);
      EXPECT_GT(world.placeOf(0), Place::Nowhere);
      for (size_t rank : {1, 2, 3})
        EXPECT_EQ(world.placeOf(rank), world.placeOf(0));
      const Place first = world.placeOf(0);
      EXPECT_EQ(world.runAt(WindowedWorld::regionBytes, 0, {.count = 100}), "");
      EXPECT_NE(world.placeOf(0), first);
    }
    EXPECT_EQ(nccl.leaks(), "");
  }
}

TEST(UserWindows, CallsLeaveWhatTheHostLeaves) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, programsOf3());
  for (bool inPlace : {false, true})
    for (auto [type, op] : {std::pair(ElementType::Float, ReduceOp::Sum),
                            {ElementType::Bfloat16, ReduceOp::Avg},
                            {ElementType::Uint8, ReduceOp::Max}})
      for (uint64_t count : {1, 6, 151, 600})
        for (size_t program = 0; program < world.names.size(); ++program) {
          const TrialOptions options{count, type, op, inPlace, static_cast<uint32_t>(count % 3), ++fake.seed};
          if (world.trial(program, options).exists()) {
            EXPECT_EQ(world.runAt(0, program, options), "");
          }
        }
}

/// Ranks can be calls ahead of others. So announcements of several calls follow each other on one connection. Some
/// calls are in windows, some are not, and in some only one rank's buffers are at another place.
TEST(UserWindows, RanksMayBeAheadOfOthers) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, programsOf3());
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    fake.seed = seed;
    host::Random random(seed);
    const std::string problem = world.runOutOfStep(seed, [&](const Trial &trial, size_t call) {
      if (random.below(4) == 0)
        return std::make_unique<Loopback::Buffers>(fake, trial);
      std::vector<std::byte *> places = world.at(call * WindowedWorld::regionBytes);
      if (random.below(4) == 0)
        places[random.below(places.size())] += 256;
      return std::make_unique<Loopback::Buffers>(trial, places);
    });
    EXPECT_EQ(problem, "") << "seed " << seed;
  }
}

TEST(UserWindows, OtherPlacesNeedSlots) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {allGather(3, false)});
  const Trial trial = world.trial(0, {.count = 100});
  std::vector<std::byte *> places = world.at(0);
  places[1] += 16;
  EXPECT_EQ(world.CommWorld::run(trial, Loopback::Buffers(trial, places)), "");
  EXPECT_NE(world.placeOf(1), world.placeOf(0));
  EXPECT_EQ(world.placeOf(2), world.placeOf(0));
  EXPECT_EQ(world.ranksWithCleanSlots(), 1u) << "the messages from rank 2 to rank 0 are direct";
  EXPECT_EQ(world.run(0, {.count = 100}), "");
  EXPECT_EQ(world.placeOf(0), Place::Nowhere);
  EXPECT_EQ(world.ranksWithCleanSlots(), 0u);
}

/// A buffer that reaches beyond the end of its window is not in the window.
TEST(UserWindows, BuffersLieInTheirWindowsCompletely) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {allGather(3, false)});
  const Trial trial = world.trial(0, {.count = 100});
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    world.ranks[rank]->windows().remove(world.handles[rank]);
  const size_t end = trial.initial()[0].recv + 300 * sizeof(float);
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    world.ranks[rank]->windows().add(world.handles[rank], world.memory[rank], end - 1);
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_EQ(world.placeOf(0), Place::Nowhere);
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    world.ranks[rank]->windows().remove(world.handles[rank]);
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    world.ranks[rank]->windows().add(world.handles[rank], world.memory[rank], end);
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_GT(world.placeOf(0), Place::Nowhere);
}

/// Removed windows, and windows that NCCL does not support, are not used.
TEST(UserWindows, WithoutWindowsThereAreSlots) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  {
    WindowedWorld world(fake, nccl, {allGather(3, false)});
    for (size_t rank = 0; rank < world.ranks.size(); ++rank)
      world.ranks[rank]->windows().remove(world.handles[rank]);
    EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
    EXPECT_EQ(world.placeOf(0), Place::Nowhere);
  }
  EXPECT_EQ(nccl.leaks(), "");
}

TEST(UserWindows, SmallCallsDoNotCompare) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  cuda::Options options = smallOptions();
  options.leastPlacedBytes = 1200;
  WindowedWorld world(fake, nccl, {allGather(3, false)}, options);
  EXPECT_EQ(world.runAt(0, 0, {.count = 99}), "");
  EXPECT_EQ(world.placeOf(0), Place::NotCompared);
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_GT(world.placeOf(0), Place::Nowhere);
}

TEST(UserWindows, UsersCanKeepSlots) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  cuda::Options options = comparing();
  options.direct = false;
  WindowedWorld world(fake, nccl, {allGather(3, false)}, options);
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_EQ(world.placeOf(0), Place::NotCompared);
}

/// Messages between teams go over the network. Those within a team go directly.
TEST(UserWindows, TeamsHaveTheirOwn) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.teamSize = 2;
  WindowedWorld world(fake, nccl, {ringAllReduce(4, false), allToAll(4, 1)});
  for (uint64_t seed = 1; seed <= 10; ++seed)
    for (size_t program : {0, 1}) {
      EXPECT_EQ(world.runAt(0, program, {.count = 151, .seed = seed}), "");
      EXPECT_GT(world.placeOf(0), Place::Nowhere);
    }
}

/// If a rank makes no call, the other ranks wait for it before they store into its buffer.
TEST(UserWindows, ALateRankIsNamed) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  cuda::Options options = comparing();
  options.timeoutMs = 100;
  WindowedWorld world(fake, nccl, {allGather(2, false)}, options);
  ASSERT_EQ(world.runAt(0, 0, {.count = 10}), "");
  const Trial trial = world.trial(0, {.count = 10});
  const Loopback::Buffers buffers(trial, world.at(0));
  std::array calls{world.part(0, buffers.requests[0])};
  comm::CallGroup::run(calls);
  const std::string report = awaitStopReport(*world.ranks[0]);
  EXPECT_NE(report.find("waits for rank 1 to begin this call"), std::string::npos) << report;
}

} // namespace
