// SPDX-License-Identifier: Apache-2.0
// If receive buffers lie at the same place of the application's windows, messages between ranks need no slots.
#include "Programs.h"
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
      std::vector<std::byte *> places = world.placesFor(trial, call * WindowedWorld::regionBytes);
      if (random.below(4) == 0)
        places[random.below(places.size())] += 256;
      return std::make_unique<Loopback::Buffers>(trial, places);
    });
    EXPECT_EQ(problem, "") << "seed " << seed;
  }
}

/// Rank 0 ends its first call while rank 1 still waits for rank 2. In its second call, rank 0 has another place, which
/// rank 1 must not read in the first.
TEST(UserWindows, PlacesOfTheNextCallComeLater) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {broadcast(3, 0)});
  ASSERT_EQ(world.runAt(0, 0, {.count = 10}), "");
  const Trial trials[] = {world.trial(0, {.count = 10, .seed = 1}), world.trial(0, {.count = 10, .seed = 2})};
  std::vector<std::byte *> places = world.placesFor(trials[1], WindowedWorld::regionBytes);
  places[0] += 256;
  const Loopback::Buffers first(trials[0], world.placesFor(trials[0], 0)), second(trials[1], places);
  for (size_t rank : {0, 1, 2}) {
    std::array calls{world.part(rank, first.requests[rank]), world.part(rank, second.requests[rank])};
    comm::CallGroup::run(calls);
  }
  EXPECT_EQ(world.finish(trials[0], first), "");
  EXPECT_EQ(world.finish(trials[1], second), "");
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
  const size_t begin = trial.initial()[0].recv, end = begin + 300 * sizeof(float);
  const auto placeIn = [&](size_t first, size_t last) {
    for (size_t rank = 0; rank < world.ranks.size(); ++rank)
      world.replaceWindow(rank, first, last);
    EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
    return world.placeOf(0);
  };
  EXPECT_EQ(placeIn(0, end - 1), Place::Nowhere);
  EXPECT_EQ(placeIn(begin, begin + 1), Place::Nowhere);
  EXPECT_EQ(placeIn(begin + 1, WindowedWorld::windowBytes), Place::Nowhere);
  EXPECT_EQ(placeIn(end, end), Place::Nowhere);
  EXPECT_GT(placeIn(0, end), Place::Nowhere);
}

/// Equal offsets in different windows are different places.
TEST(UserWindows, WindowsHaveNumbers) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {allGather(3, false)});
  for (size_t rank : {0, 1, 2})
    world.replaceWindow(rank, 0, WindowedWorld::windowBytes); // window 1
  world.replaceWindow(2, 0, WindowedWorld::windowBytes);      // window 2
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_EQ(world.placeOf(0), world.placeOf(1));
  EXPECT_NE(world.placeOf(0), world.placeOf(2));
  EXPECT_EQ(world.ranksWithCleanSlots(), 1u);
}

/// Removed windows, and windows that NCCL does not support, are not used.
TEST(UserWindows, WithoutWindowsThereAreSlots) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  for (int version : {ncclapi::oldestVersion, ncclapi::devicePointerVersion}) {
    nccl.version = version;
    for (const FakeNccl::Windows kind : {FakeNccl::Windows::Real, FakeNccl::Windows::Null, FakeNccl::Windows::Other}) {
      if (kind == FakeNccl::Windows::Other && version != ncclapi::oldestVersion)
        continue; // only NCCL before 2.29 has such handles
      WindowedWorld world(fake, nccl, {allGather(3, false)}, comparing(), kind);
      for (size_t rank = 0; kind == FakeNccl::Windows::Real && rank < world.ranks.size(); ++rank)
        world.ranks[rank]->windows().remove(world.handles[rank]);
      for (int call = 0; call < 2; ++call) {
        EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
        EXPECT_EQ(world.placeOf(0), Place::Nowhere);
      }
    }
    EXPECT_EQ(nccl.leaks(), "");
  }
}

/// Before NCCL 2.29.2, a window's rank in its team shows whether gc3 would compute the right addresses.
TEST(UserWindows, OfAnotherTeamAreNotUsed) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {allGather(3, false)});
  for (size_t rank : {0, 1, 2})
    world.ranks[rank]->windows().remove(world.handles[rank]);
  world.deregisterWindows();
  nccl.teamSize = 1;
  world.addWindows();
  nccl.teamSize = 0;
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_EQ(world.placeOf(1), Place::Nowhere);
  EXPECT_EQ(world.placeOf(2), Place::Nowhere);
}

/// If a rank does not find the addresses of its peers, it uses slots, and the others send directly to each other.
TEST(UserWindows, OneRankCanLackAddresses) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.version = ncclapi::devicePointerVersion;
  WindowedWorld world(fake, nccl, {allToAll(3, 1)});
  ASSERT_EQ(world.run(0, {.count = 9}), ""); // loads the program, which locates gc3's own windows
  nccl.fail("GetLsaDevicePointer", ncclapi::Result::InternalError);
  testing::internal::CaptureStderr();
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
    EXPECT_EQ(world.placeOf(0), Place::Nowhere);
    EXPECT_GT(world.placeOf(1), Place::Nowhere);
    EXPECT_EQ(world.placeOf(1), world.placeOf(2));
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("rank 0: a window is not used: querying a peer's address"),
            std::string::npos);
}

/// A replay announces new numbers. The first call of the capture locates the windows.
TEST(UserWindows, GraphsReplay) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.version = ncclapi::devicePointerVersion;
  WindowedWorld world(fake, nccl, {allGather(3, false), ringAllReduce(3, false)});
  ASSERT_EQ(world.run(0, {.count = 9}), "");
  ASSERT_EQ(world.run(1, {.count = 9}), "");
  const Trial trials[] = {world.trial(0, {.count = 100}), world.trial(1, {.count = 77, .inPlace = true})};
  Loopback::Buffers gathered(trials[0], world.at(0)), reduced(trials[1], world.at(WindowedWorld::regionBytes));
  fake.captured = true;
  for (const Loopback::Buffers *buffers : {&gathered, &reduced}) {
    std::vector<comm::CallGroup::Call> calls;
    for (size_t rank : {0, 1, 2})
      calls.push_back(world.part(rank, buffers->requests[rank]));
    comm::CallGroup::run(calls);
    EXPECT_EQ(calls[0].outcome.text + calls[1].outcome.text + calls[2].outcome.text, "");
    EXPECT_GT(world.placeOf(0), Place::Nowhere);
  }
  fake.captured = false;
  for (size_t replay = 0; replay < 3; ++replay) {
    gathered.fill();
    reduced.fill();
    fake.replay();
    EXPECT_EQ(world.finish(trials[0], gathered), "");
    EXPECT_EQ(world.finish(trials[1], reduced), "");
    EXPECT_EQ(world.runAt(replay * WindowedWorld::regionBytes, 1, {.count = 31}), ""); // between the replays
  }
}

/// Before version 2.29.2, gc3 reads the addresses of a window from the GPU. It cannot do this during a capture, so the
/// messages of this call have slots. Later calls use the window.
TEST(UserWindows, CapturesReadNoAddresses) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  WindowedWorld world(fake, nccl, {allGather(3, false)});
  ASSERT_EQ(world.run(0, {.count = 9}), "");
  const Trial trial = world.trial(0, {.count = 100});
  Loopback::Buffers buffers(trial, world.placesFor(trial, 0));
  fake.captured = true;
  std::vector<comm::CallGroup::Call> calls;
  for (size_t rank : {0, 1, 2})
    calls.push_back(world.part(rank, buffers.requests[rank]));
  comm::CallGroup::run(calls);
  fake.captured = false;
  EXPECT_EQ(world.placeOf(0), Place::Nowhere);
  fake.replay();
  EXPECT_EQ(buffers.compare(), "");
  EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
  EXPECT_GT(world.placeOf(0), Place::Nowhere);
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

TEST(UserWindows, ProgramsWithFlagsDoNotCompare) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  for (kernel::Protocol protocol : {kernel::Protocol::LL, kernel::Protocol::LL128}) {
    WindowedWorld world(fake, nccl, {under(protocol, allGather(3, false))});
    EXPECT_EQ(world.runAt(0, 0, {.count = 100}), "");
    EXPECT_EQ(world.placeOf(0), Place::NotCompared);
  }
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

/// Messages between teams go over the network. Those within a team go directly. If teams have a stride, each rank is a
/// team of its own.
TEST(UserWindows, TeamsHaveTheirOwn) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  nccl.teamSize = 2;
  for (auto [version, stride] :
       {std::pair(ncclapi::oldestVersion, 1), {ncclapi::devicePointerVersion, 1}, {ncclapi::oldestVersion, 2}}) {
    nccl.version = nccl.partFor = version;
    nccl.teamStride = stride;
    WindowedWorld world(fake, nccl, {ringAllReduce(4, false), allToAll(4, 1)});
    for (uint64_t seed = 1; seed <= 4; ++seed)
      for (size_t program : {0, 1}) {
        EXPECT_EQ(world.runAt(0, program, {.count = 151, .seed = seed}), "");
        if (stride == 1) {
          EXPECT_GT(world.placeOf(3), Place::Nowhere);
        } else {
          EXPECT_EQ(world.placeOf(3), Place::NotCompared);
        }
      }
  }
}

/// Before a rank stores into a buffer or reads its own, it waits until the other end of the connection has begun the
/// call. A report names a rank that makes no call.
TEST(UserWindows, ALateRankIsNamed) {
  for (size_t late : {1, 0}) { // a receiver, then the only sender
    FakeCuda fake;
    FakeNccl nccl(fake);
    cuda::Options options = comparing();
    options.timeoutMs = 100;
    WindowedWorld world(fake, nccl, {broadcast(2, 0)}, options);
    ASSERT_EQ(world.runAt(0, 0, {.count = 10}), "");
    const Trial trial = world.trial(0, {.count = 10});
    const Loopback::Buffers buffers(trial, world.placesFor(trial, 0));
    std::array calls{world.part(1 - late, buffers.requests[1 - late])};
    comm::CallGroup::run(calls);
    const std::string report = awaitStopReport(*world.ranks[1 - late]);
    EXPECT_NE(report.find("waits for rank " + std::to_string(late) + " to begin this call"), std::string::npos)
        << report;
  }
}

/// After a stop, NCCL can unmap the windows. So a kernel that begins only then stores nothing into them.
TEST(UserWindows, KernelsThatBeginAfterAStopDoNothing) {
  FakeCuda fake;
  FakeNccl nccl(fake);
  CommWorld others(fake, nccl, {allGather(2, false)});
  WindowedWorld world(fake, nccl, {allGather(2, false)});
  ASSERT_EQ(others.run(0, {.count = 10}), "");
  ASSERT_EQ(world.runAt(0, 0, {.count = 10}), "");
  const Trial first = others.trial(0, {.count = 10}), second = world.trial(0, {.count = 100});
  const Loopback::Buffers before(fake, first), buffers(second, world.at(0));
  std::array blocking{others.part(0, before.requests[0])}, releasing{others.part(1, before.requests[1])};
  std::array calls{world.part(0, buffers.requests[0]), world.part(1, buffers.requests[1])};
  calls[0].request.stream = others.streams[0];
  comm::CallGroup::run(blocking); // waits for rank 1, so the next call on the stream cannot begin
  comm::CallGroup::run(calls);
  abort(world.ranks[0]);
  comm::CallGroup::run(releasing);
  awaitThat([&] { return world.ranks[0]->isClosed(); });
  const Trial::Memory &initial = second.initial()[1];
  const std::byte *received = world.at(initial.recv)[1];
  EXPECT_TRUE(std::equal(received, received + 100 * sizeof(float),
                         initial.bytes.begin() + static_cast<ptrdiff_t>(initial.recv)));
  abort(world.ranks[1]);
}

} // namespace
