// SPDX-License-Identifier: Apache-2.0
// If receive buffers lie at the same place of the application's windows, messages between ranks need no slots.
#include "CommSupport.h"
#include "Programs.h"

#include <algorithm>
#include <array>

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::ReduceOp;
using kernel::Place;

namespace {

/// Returns options under which all calls compare places.
cuda::Options comparing() {
  cuda::Options options = smallOptions();
  options.leastPlacedBytes = 1;
  return options;
}

/// A communicator whose ranks have registered a window each.
class WindowedWorld : public CommWorld {
public:
  static constexpr size_t regionBytes = 1 << 14, windowBytes = (callCount + 1) * regionBytes;

  /// `windows` says which handles NCCL returns to the application. gc3's own windows are real.
  WindowedWorld(FakeCuda &cuda, FakeNccl &nccl, const std::vector<ProgramSpec> &specs,
                const cuda::Options &options = comparing(), FakeNccl::Windows windows = FakeNccl::Windows::Real)
      : CommWorld(cuda, nccl, specs, options), windows(windows) {
    EXPECT_EQ(joinProblem(), "");
    addWindows();
  }
  ~WindowedWorld() {
    endAll(ranks);
    nccl.windows = windows;
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      if (handles[rank])
        applicationCall<ncclapi::signature::CommWindowDeregister>("CommWindowDeregister", comms[rank], handles[rank]);
      applicationCall<ncclapi::signature::MemFree>("MemFree", memory[rank]);
    }
    nccl.windows = FakeNccl::Windows::Real;
  }

  /// Makes a rank's windows with gc3 consist of the bytes from `begin` to `end` of its window.
  void replaceWindow(size_t rank, size_t begin, size_t end) {
    ranks[rank]->windows().remove(handles[rank]);
    ranks[rank]->windows().add(handles[rank], static_cast<std::byte *>(memory[rank]) + begin, end - begin);
  }

  /// Returns the addresses at `offset` in the windows of all ranks.
  std::vector<std::byte *> at(size_t offset) const {
    std::vector<std::byte *> places;
    for (void *window : memory)
      places.push_back(static_cast<std::byte *>(window) + offset);
    return places;
  }

  /// Makes a call with buffers at `offset` in the windows.
  std::string runAt(size_t offset, size_t program, const TrialOptions &options) {
    const Trial wanted = trial(program, options);
    for (const Trial::Memory &rank : wanted.initial())
      EXPECT_LE(rank.bytes.size(), regionBytes);
    return CommWorld::run(wanted, Loopback::Buffers(wanted, at(offset)));
  }

  /// Returns the last call of a rank.
  const kernel::KernelArgs &callOf(size_t rank) const { return cuda.callOn.at(streams[rank]); }
  Place placeOf(size_t rank) const { return callOf(rank).place; }

  /// Returns the number of ranks into whose slots no message was ever stored.
  size_t ranksWithCleanSlots() const {
    size_t clean = 0;
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      const kernel::KernelArgs &call = callOf(rank);
      const auto &blocks = loaded[0]->program->rank(static_cast<uint32_t>(rank)).threadBlocks;
      const size_t bytes = call.slots * call.slotBytes;
      clean += std::all_of(call.blocks, call.blocks + blocks.size(), [&](const kernel::BlockImage &block) {
        return !block.in.slots ||
               std::all_of(block.in.slots, block.in.slots + bytes, [](std::byte byte) { return byte == std::byte{0}; });
      });
    }
    return clean;
  }

  std::vector<void *> memory;
  std::vector<ncclapi::Window> handles;

private:
  const FakeNccl::Windows windows;

  template <typename Signature, typename... Arguments>
  static void applicationCall(const std::string &name, Arguments... arguments) {
    EXPECT_EQ(reinterpret_cast<Signature *>(FakeNccl::applicationFunction(name))(arguments...),
              ncclapi::Result::Success)
        << name;
  }

  void addWindows() {
    memory.resize(comms.size());
    handles.resize(comms.size());
    for (size_t rank = 0; rank < comms.size(); ++rank) {
      FakeCuda::currentDevice = static_cast<int>(rank) / nccl.ranksPerGpu;
      applicationCall<ncclapi::signature::MemAlloc>("MemAlloc", &memory[rank], windowBytes);
    }
    nccl.windows = windows;
    applicationCall<ncclapi::signature::GroupStart>("GroupStart");
    for (size_t rank = 0; rank < comms.size(); ++rank)
      applicationCall<ncclapi::signature::CommWindowRegister>("CommWindowRegister", comms[rank], memory[rank],
                                                              windowBytes, &handles[rank], 0);
    applicationCall<ncclapi::signature::GroupEnd>("GroupEnd");
    nccl.windows = FakeNccl::Windows::Real;
    for (size_t rank = 0; rank < comms.size(); ++rank)
      ranks[rank]->windows().add(handles[rank], memory[rank], windowBytes);
  }
};

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
