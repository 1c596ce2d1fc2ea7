// SPDX-License-Identifier: Apache-2.0
// Tests the faults of online selection on communicators with a GPU for each rank: ranks that wait for times, programs
// that can't be loaded, and connections that end.
#include "CommSupport.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

using namespace gc3;
using namespace gc3::test;
using comm::CallGroup;
using kernel::Protocol;

namespace {

constexpr size_t rankCount = 3;
constexpr TrialOptions copyingNothing{.count = 6, .inPlace = true}; ///< calls that their kernels measure

class OnlineComm : public testing::Test {
protected:
  static std::vector<ProgramSpec> allReduces() {
    return {ringAllReduce(rankCount, true), under(Protocol::LL, ringAllReduce(rankCount, true))};
  }
  static cuda::Options online() {
    cuda::Options options = smallOptions();
    options.tune.isOnline = true;
    return options;
  }

  /// Returns a rank's part of a call whose program is chosen.
  static CallGroup::Call part(CommWorld &world, size_t rank, const Loopback::Buffers &buffers) {
    CallGroup::Call call = world.part(rank, buffers.requests[rank]);
    call.request.kind = core::CallKind::Standard;
    call.request.name = "allreduce";
    if (const auto online = world.ranks[rank]->online()) { // there is none after an abort
      call.kind = online->find(call.request);
      EXPECT_TRUE(call.isOnline());
    }
    return call;
  }
  /// Makes a call on one rank. Returns its error.
  static core::Outcome callOne(CommWorld &world, size_t rank, const Loopback::Buffers &buffers) {
    CallGroup::Call call = part(world, rank, buffers);
    CallGroup::run({&call, 1});
    return call.outcome;
  }
  /// Makes calls on all ranks, one group each. Returns the first error; empty if all data are right.
  std::string callAll(CommWorld &world, int calls, const TrialOptions &options = {.count = 5}) {
    for (int number = 0; number < calls; ++number) {
      const Trial wanted = world.trial(0, options);
      const Loopback::Buffers buffers(fake, wanted);
      std::vector<CallGroup::Call> group;
      for (size_t rank = 0; rank < rankCount; ++rank)
        group.push_back(part(world, rank, buffers));
      CallGroup::run(group);
      for (const CallGroup::Call &call : group)
        if (!call.outcome.ok())
          return call.outcome.text;
      if (std::string problem = world.finish(wanted, buffers); !problem.empty())
        return problem;
    }
    return {};
  }

  /// Makes calls on rank 0 alone, after 16 calls of all ranks. Calls `end` when rank 0 has made 64 calls, and waits for
  /// the times of the others: the exchange of call 16 is due at call 80. Returns the error that ends the wait.
  core::Outcome endWaitBy(CommWorld &world, const std::function<void()> &end) {
    EXPECT_EQ(callAll(world, 16), "");
    const Trial wanted = world.trial(0, copyingNothing);
    const Loopback::Buffers buffers(fake, wanted);
    std::atomic<int> made = 0;
    core::Outcome outcome;
    std::thread ahead([&] {
      while ((outcome = callOne(world, 0, buffers)).ok())
        ++made;
    });
    awaitThat([&] { return made == 64; });
    end();
    ahead.join();
    EXPECT_EQ(made, 64);
    abortAll(world);
    return outcome;
  }
  /// Aborts all ranks, and waits until no stream uses the buffers of the test.
  void abortAll(CommWorld &world) {
    for (const auto &rank : world.ranks)
      abort(rank);
    for (const auto &rank : world.ranks)
      awaitThat([&] { return rank->isClosed(); });
    for (cuda::Stream stream : world.streams)
      awaitThat([&] { return fake.isIdle(stream); });
  }

  FakeCuda fake;
  FakeNccl nccl{fake};
};

TEST_F(OnlineComm, KernelsMeasureCallsThatCopyNothing) {
  CommWorld world(fake, nccl, allReduces(), online());
  for (const auto &[options, areByKernels] :
       {std::pair(copyingNothing, true), std::pair(TrialOptions{.count = 5}, false)}) {
    ASSERT_EQ(callAll(world, 1, options), "");
    const Monitor::Lock lock;
    for (const cuda::Stream stream : world.streams)
      EXPECT_EQ(fake.callOn.at(stream).times != nullptr, areByKernels);
  }
}

/// Calls take 100 microseconds. After the first calls, kernels measure each call, but events only one in seven.
TEST_F(OnlineComm, EventsMeasureFewCalls) {
  {
    const Monitor::Lock lock;
    fake.duration = [](const cuda::Launch &) { return 100.0; };
  }
  CommWorld world(fake, nccl, allReduces(), online());
  for (const auto &[options, fewest, most] :
       {std::tuple(copyingNothing, 50, 50), std::tuple(TrialOptions{.count = 5}, 5, 20)}) {
    ASSERT_EQ(callAll(world, 250, options), "");
    int timed = 0;
    for (int call = 0; call < 50; ++call) {
      ASSERT_EQ(callAll(world, 1, options), "");
      timed += world.ranks[1]->online()->timed().has_value();
    }
    EXPECT_GE(timed, fewest);
    EXPECT_LE(timed, most);
  }
}

/// A rank that is 64 calls ahead waits for the times of the others. An abort ends its wait.
TEST_F(OnlineComm, AnAbortEndsAWait) {
  {
    CommWorld world(fake, nccl, allReduces(), online());
    EXPECT_EQ(endWaitBy(world, [&] { abortAll(world); }).text, "the communicator was aborted");
  }
  EXPECT_EQ(nccl.leaks(), "");
}

TEST_F(OnlineComm, TheTimeLimitEndsAWait) {
  cuda::Options options = online();
  options.timeoutMs = 1000; // more than a call takes under a sanitizer
  CommWorld world(fake, nccl, allReduces(), options);
  ASSERT_EQ(callAll(world, 16), "");
  const Trial wanted = world.trial(0, {.count = 5});
  const Loopback::Buffers buffers(fake, wanted);
  core::Outcome outcome;
  while ((outcome = callOne(world, 0, buffers)).ok())
    ;
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_TRUE(outcome.text.find("GC3_TUNE: other ranks have made too few calls") != std::string::npos ||
              outcome.text.find("a kernel has not ended") != std::string::npos)
      << outcome.text; // both limits are the same
  EXPECT_EQ(outcome.text.find("difference"), std::string::npos) << outcome.text;
  abortAll(world);
}

/// Rank 2 ends without making the calls of the others. The call that needs its times names it.
TEST_F(OnlineComm, ARankThatEndsEarlyIsNamed) {
  CommWorld world(fake, nccl, allReduces(), online());
  ASSERT_EQ(callAll(world, 16), "");
  abort(world.ranks[2]);
  const Trial wanted = world.trial(0, {.count = 5});
  const Loopback::Buffers buffers(fake, wanted);
  core::Outcome outcome;
  while ((outcome = callOne(world, 0, buffers)).ok())
    ;
  EXPECT_EQ(outcome.code, gc3SystemError);
  EXPECT_NE(outcome.text.find("rank 2"), std::string::npos) << outcome.text;
  abortAll(world);
}

/// The ranks try the second program, but rank 1 has no memory for it. From then on, no rank chooses it.
TEST_F(OnlineComm, AProgramThatCannotBeLoadedIsExcluded) {
  CommWorld world(fake, nccl, allReduces(), online());
  ASSERT_EQ(callAll(world, 1), "");
  {
    const Monitor::Lock lock;
    fake.failFunction = {"CUDA allocate", 1};
  }
  EXPECT_EQ(callAll(world, 200), "");
  const auto loaded = [&](uint32_t program) {
    core::Outcome refusal;
    return world.ranks[0]->loaded(program, refusal) != nullptr;
  };
  EXPECT_TRUE(loaded(0));
  EXPECT_FALSE(loaded(1));
  const core::OnlineSelection::Counters counters = world.ranks[0]->online()->counters();
  EXPECT_EQ(counters.explored, 1U) << "the call that could not load it";
}

/// A stream on which the application holds a GPU back.
class HeldStream {
public:
  HeldStream(FakeCuda &cuda, cuda::Stream stream, int device) : fake(cuda) {
    FakeCuda::currentDevice = device;
    fake.enqueue(stream, [this] { return [this] { return isReleased.load(); }; });
    FakeCuda::currentDevice = 0;
  }
  void release() {
    isReleased = true;
    const Monitor::Lock lock;
    fake.advance();
  }

private:
  FakeCuda &fake;
  std::atomic<bool> isReleased = false;
};

/// One thread makes the calls of all ranks. No wait of a call needs the GPU that the application holds back.
TEST_F(OnlineComm, AHeldGpuDelaysNoGroup) {
  CommWorld world(fake, nccl, allReduces(), online());
  ASSERT_EQ(callAll(world, 48), "");
  const Trial wanted = world.trial(0, {.count = 5});
  const Loopback::Buffers buffers(fake, wanted);
  HeldStream held(fake, world.streams[1], 1);
  for (int call = 0; call < 150; ++call) {
    std::vector<CallGroup::Call> group;
    for (size_t rank = 0; rank < rankCount; ++rank)
      group.push_back(part(world, rank, buffers));
    CallGroup::run(group);
    for (const CallGroup::Call &each : group)
      ASSERT_TRUE(each.outcome.ok()) << each.outcome.text;
  }
  held.release();
  for (size_t rank = 0; rank < rankCount; ++rank)
    awaitThat([&] { return fake.isIdle(world.streams[rank]); });
}

/// Ranks 1 and 2 have made the call of an exchange, and wait for their GPUs. Rank 0 makes 72 more calls before it
/// releases its GPU.
TEST_F(OnlineComm, AHeldGpuDelaysNoOtherRank) {
  CommWorld world(fake, nccl, allReduces(), online());
  ASSERT_EQ(callAll(world, 48), "");
  const Trial wanted = world.trial(0, {.count = 5});
  const Loopback::Buffers buffers(fake, wanted);
  HeldStream held(fake, world.streams[0], 0);
  for (int call = 0; call < 20; ++call) {
    std::vector<CallGroup::Call> group;
    for (size_t rank = 0; rank < rankCount; ++rank)
      group.push_back(part(world, rank, buffers));
    CallGroup::run(group);
  }
  for (int call = 0; call < 72; ++call)
    ASSERT_TRUE(callOne(world, 0, buffers).ok());
  held.release();
  for (int call = 0; call < 72; ++call)
    for (size_t rank = 1; rank < rankCount; ++rank)
      EXPECT_TRUE(callOne(world, rank, buffers).ok());
  for (size_t rank = 0; rank < rankCount; ++rank)
    awaitThat([&] { return fake.isIdle(world.streams[rank]); });
}

/// Only rank 0 makes its calls while another communicator has calls in flight. All ranks learn this, and have other
/// choices for such calls.
TEST_F(OnlineComm, CallsBesideOthersHaveTheirOwnChoices) {
  std::atomic<bool> isShared = false;
  {
    const Monitor::Lock lock;
    fake.duration = [&](const cuda::Launch &launch) {
      const bool isSecond = launch.kernel == FakeCuda::table().interpreter(core::ElementType::Float, Protocol::LL);
      return isSecond == isShared ? 20.0 : 100.0;
    };
  }
  CommWorld world(fake, nccl, allReduces(), online());
  ASSERT_EQ(callAll(world, 60), ""); // loads the programs
  const Trial wanted = world.trial(0, {.count = 5});
  const Loopback::Buffers buffers(fake, wanted);
  const cuda::Cuda &table = FakeCuda::table();
  const cuda::Stream stream = fake.stream(0);
  cuda::OwnEvent event;
  ASSERT_TRUE(cuda::createEvent(table).moveTo(event).ok());
  cuda::InFlight other(table);
  other.start(event.get());
  const auto makeCalls = [&](int calls, bool areBesideOthers) {
    isShared = areBesideOthers;
    for (int call = 0; call < calls; ++call)
      for (size_t rank = 0; rank < rankCount; ++rank) {
        HeldStream held(fake, stream, 0);
        if (rank == 0 && areBesideOthers) {
          ASSERT_EQ(table.record(event.get(), stream), 0);
          other.note();
        }
        const core::Outcome outcome = callOne(world, rank, buffers);
        ASSERT_TRUE(outcome.ok()) << outcome.text;
        held.release();
        ASSERT_TRUE(fake.isIdle(stream));
      }
    for (size_t rank = 0; rank < rankCount; ++rank) {
      EXPECT_TRUE(fake.isIdle(world.streams[rank]));
      EXPECT_EQ(world.ranks[rank]->online()->favourite(part(world, rank, buffers).kind).program,
                uint32_t(areBesideOthers));
    }
  };
  makeCalls(170, true);
  const uint64_t changes = world.ranks[1]->online()->counters().changes;
  makeCalls(90, false);
  EXPECT_EQ(world.ranks[1]->online()->counters().changes, changes) << "the choices alone are known";
  table.destroyStream(stream);
}

/// Rank 0 alone has asked which program would run calls of integers, before the ranks refuse a program.
TEST_F(OnlineComm, AProgramIsExcludedForLaterTypes) {
  CommWorld world(fake, nccl, allReduces(), online());
  const Trial integers = world.trial(0, {.count = 5, .type = core::ElementType::Int32});
  const Loopback::Buffers buffers(fake, integers);
  part(world, 0, buffers);
  ASSERT_EQ(callAll(world, 1), "");
  {
    const Monitor::Lock lock;
    fake.failFunction = {"CUDA allocate", 1};
  }
  ASSERT_EQ(callAll(world, 8), "");
  for (int number = 0; number < 100; ++number) {
    std::vector<CallGroup::Call> group;
    for (size_t rank = 0; rank < rankCount; ++rank)
      group.push_back(part(world, rank, buffers));
    CallGroup::run(group);
    for (const CallGroup::Call &call : group)
      ASSERT_TRUE(call.outcome.ok()) << call.outcome.text;
  }
}

/// A fault makes rank 1 choose another program than the others.
class FaultyChoice : public OnlineComm {
protected:
  static constexpr const char *difference =
      "; first difference: online selection, call 60: the calls or choices of rank 1 differ from those of the other 2; "
      "check that all ranks make the same calls, and their memory";

  static cuda::Options withTimeLimit() {
    cuda::Options options = online();
    options.timeoutMs = 1000; // more than a call takes under a sanitizer
    return options;
  }
  /// Makes 60 calls, in which the ranks try and load both programs. Then makes calls in which rank 1 chooses the other
  /// program, so no kernel of these calls can end.
  void stall(CommWorld &world, int calls) {
    ASSERT_EQ(callAll(world, 60), "");
    world.ranks[1]->online()->exclude(0);
    isStalling = true;
    const Trial wanted = world.trial(0, {.count = 5});
    buffers.emplace(fake, wanted);
    for (int call = 0; call < calls; ++call) {
      std::vector<CallGroup::Call> group;
      for (size_t rank = 0; rank < rankCount; ++rank)
        group.push_back(part(world, rank, *buffers));
      CallGroup::run(group);
      for (const CallGroup::Call &each : group)
        ASSERT_TRUE(each.outcome.ok()) << each.outcome.text;
    }
  }

  std::optional<Loopback::Buffers> buffers;
  std::atomic<bool> isStalling = false;
};

/// Each rank's time limit ends its kernel. The error of each rank names the rank that differs.
TEST_F(FaultyChoice, TheTimeoutNamesTheRank) {
  {
    CommWorld world(fake, nccl, allReduces(), withTimeLimit());
    stall(world, 1);
    for (const auto &rank : world.ranks) {
      const std::string text = awaitStopReport(*rank);
      EXPECT_TRUE(text.ends_with(difference)) << text;
      EXPECT_EQ(rank->status().error.code, gc3Timeout);
    }
    abortAll(world);
    buffers.reset();
  }
  EXPECT_EQ(nccl.leaks(), "");
}

/// Rank 1 is not to load a program that the others load.
TEST_F(FaultyChoice, TheTimeoutOfLoadingNamesTheRank) {
  CommWorld world(fake, nccl, allReduces(), withTimeLimit());
  ASSERT_EQ(callAll(world, 1), "");
  world.ranks[1]->online()->exclude(1);
  EXPECT_NE(callAll(world, 60), "");
  for (const auto &rank : world.ranks) {
    awaitThat([&] {
      return rank->status().error.text.find(" differ from those of the other 2; check that") != std::string::npos;
    });
    EXPECT_EQ(rank->status().error.code, gc3Timeout);
  }
  abortAll(world);
}

/// The thread of rank 2 that would answer waits for CUDA. The time limit must end the calls nevertheless.
TEST_F(FaultyChoice, ARankThatDoesNotAnswerDoesNotHoldBackTheTimeout) {
  std::atomic<bool> isReleased = false;
  CommWorld world(fake, nccl, allReduces(), withTimeLimit());
  fake.beforeCalls([&](int device, const std::string &name, uint64_t) {
    if (device == 2 && name == "CUDA elapsed" && isStalling)
      awaitThat([&] { return isReleased.load(); });
  });
  stall(world, 5); // the exchange of call 64 waits for the times of the stalled calls
  for (size_t rank : {0, 1}) {
    const std::string text = awaitStopReport(*world.ranks[rank]);
    EXPECT_EQ(text.find("first difference"), std::string::npos) << text;
    EXPECT_EQ(world.ranks[rank]->status().error.code, gc3Timeout);
  }
  isReleased = true;
  abortAll(world);
}

/// The calls of one program take times by their shape. By default, a block has 64 threads, and a tile 48 elements of
/// each of the three slots.
class ShapesComm : public OnlineComm {
protected:
  using LaunchShape = std::pair<uint64_t, uint32_t>; ///< elements of a tile, and threads
  static constexpr uint64_t count = 144;
  static constexpr LaunchShape byDefault{48, 64}, smallTiles{16, 64}, fewThreads{48, 32};

  ShapesComm() {
    const Monitor::Lock lock;
    fake.threadsPerMultiprocessor = 64;
    fake.duration = [this](const cuda::Launch &launch) {
      const LaunchShape shape{fake.callOn.at(launch.stream).tileElements, launch.threads};
      launched[launch.stream].push_back(shape);
      return shape == fastest ? 50.0 : 100.0;
    };
  }
  static cuda::Options shapes() {
    cuda::Options options = online();
    for (cuda::Tuning &tuning : options.tuning)
      tuning = {};
    options.tuning[0].slotBytes = 256;
    options.tune.hasShapes = true;
    return options;
  }
  void prefer(LaunchShape shape) {
    const Monitor::Lock lock;
    fastest = shape;
  }
  /// Checks that all ranks have run the same shapes in the same order. Returns them.
  std::vector<LaunchShape> shapesOfAll(const CommWorld &world) {
    const Monitor::Lock lock;
    const std::vector<LaunchShape> first = launched[world.streams[0]];
    for (const cuda::Stream stream : world.streams)
      EXPECT_EQ(launched[stream], first);
    return first;
  }

  LaunchShape fastest = byDefault;
  std::map<cuda::Stream, std::vector<LaunchShape>> launched; ///< guarded by the monitor
};

/// The first choices expect calls that are not in place. So the times of calls in place count only after 80 calls.
TEST_F(ShapesComm, FollowTheTimesOfKernels) {
  CommWorld world(fake, nccl, {ringAllReduce(rankCount, true)}, shapes());
  prefer(smallTiles);
  ASSERT_EQ(callAll(world, 400, {.count = count, .inPlace = true}), "");
  const std::vector<LaunchShape> made = shapesOfAll(world);
  EXPECT_EQ(made.front(), byDefault);
  EXPECT_GT(std::count(made.begin(), made.end(), fewThreads), 0);
  EXPECT_EQ(made.back(), smallTiles);
  EXPECT_EQ(made.size(), 400U);
}

/// The application finalizes a communicator while a call waits for other ranks. The call must not run.
TEST_F(OnlineComm, AFinalizedCommunicatorEndsAWait) {
  CommWorld world(fake, nccl, allReduces(), online());
  EXPECT_EQ(endWaitBy(world, [&] { world.ranks[0]->finalize(false); }).code, gc3InvalidUsage);
}

} // namespace
