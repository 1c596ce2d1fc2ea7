// SPDX-License-Identifier: Apache-2.0
// Tests online selection on ranks that share a GPU: choices change, and every call gives the right data.
#include "LoopbackSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;

namespace {

constexpr uint32_t ranks = 3;

class LoopbackOnline : public testing::Test {
protected:
  LoopbackOnline() {
    fake.duration = [this](const cuda::Launch &launch) {
      for (const Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
        if (launch.kernel == FakeCuda::table().interpreter(core::ElementType::Float, protocol))
          return microseconds[static_cast<size_t>(protocol)];
      return 1000.0;
    };
  }

  static std::vector<ProgramSpec> allReduces() {
    std::vector<ProgramSpec> specs{ringAllReduce(ranks, true), ringAllReduce(ranks, true), plainRingAllReduce(ranks)};
    specs[0].name = "simple", specs[1].name = "ll", specs[2].name = "ll128";
    specs[1].protocol = static_cast<uint8_t>(Protocol::LL), specs[2].protocol = static_cast<uint8_t>(Protocol::LL128);
    return specs;
  }
  static cuda::Options online() {
    cuda::Options options = smallOptions();
    options.tune.isOnline = true;
    return options;
  }
  /// Returns the requests of a call of the collective.
  static std::vector<core::Request> requestsOf(const Loopback::Buffers &buffers) {
    std::vector<core::Request> requests = buffers.requests;
    for (core::Request &request : requests)
      request.kind = core::CallKind::Standard, request.name = "allreduce";
    return requests;
  }
  /// Makes calls, every third one in place. Returns the first problem; empty if all data are right.
  std::string call(Loopback &world, int calls, uint64_t count = 7) {
    std::string problem;
    for (int number = 0; number < calls && problem.empty(); ++number)
      problem = callOnce(world, {.count = count, .inPlace = number % 3 == 0});
    return problem;
  }
  std::string callOnce(Loopback &world, const TrialOptions &options) {
    const Trial trial = world.trial(options);
    const Loopback::Buffers buffers(fake, trial);
    if (const core::Outcome outcome = world.world->call(requestsOf(buffers), nullptr); !outcome.ok())
      return outcome.text;
    return fake.isIdle(nullptr) ? buffers.compare() : "stuck";
  }
  std::string selected(Loopback &world, const TrialOptions &options = {.count = 7}) {
    const Trial trial = world.trial(options);
    const Loopback::Buffers buffers(fake, trial);
    return *world.world->select(requestsOf(buffers)[0]);
  }

  FakeCuda fake;
  std::array<double, 3> microseconds{100, 20, 60}; ///< by protocol
};

TEST_F(LoopbackOnline, FollowsTheTimes) {
  Loopback world(allReduces(), online());
  EXPECT_EQ(selected(world), "simple");
  EXPECT_EQ(call(world, 100), "");
  EXPECT_EQ(selected(world), "ll");
  microseconds = {100, 300, 60};
  EXPECT_EQ(call(world, 100), "");
  EXPECT_EQ(selected(world), "ll128");
  const core::OnlineSelection::Counters counters = world.world->tuneCounters();
  EXPECT_GE(counters.calls, 200U) << "counts the next calls that need no choice, too";
  EXPECT_GE(counters.changes, 2U);
}

/// Only some of the programs copy data in a call that is not in place, so events measure all of them.
TEST_F(LoopbackOnline, EventsMeasureProgramsThatCopyDifferently) {
  Loopback world(allReduces(), online());
  for (int number = 0; number < 10; ++number) {
    ASSERT_EQ(callOnce(world, {.count = 6, .op = core::ReduceOp::Max, .inPlace = number % 2 == 0}), "");
    ASSERT_EQ(fake.callOn.at(nullptr).times, nullptr);
  }
}

/// Kernels measure calls that copy no data, and events show no time.
TEST_F(LoopbackOnline, FollowsTheTimesOfKernels) {
  constexpr TrialOptions options{.count = 6, .op = core::ReduceOp::Max, .inPlace = true};
  fake.failFunction = {"CUDA elapsed", -1};
  std::vector<ProgramSpec> inPlace = allReduces();
  inPlace.pop_back(); // it copies data
  Loopback world(inPlace, online());
  for (int number = 0; number < 100; ++number) {
    ASSERT_EQ(callOnce(world, options), "");
    ASSERT_TRUE(number >= 50 || fake.callOn.at(nullptr).times);
  }
  EXPECT_EQ(selected(world, options), "ll");
  microseconds = {100, 300, 60};
  for (int number = 0; number < 50; ++number)
    ASSERT_EQ(callOnce(world, options), "");
  EXPECT_EQ(selected(world, options), "simple");
}

/// A captured call keeps its choice, and is not measured.
TEST_F(LoopbackOnline, CapturedCalls) {
  Loopback world(allReduces(), online());
  EXPECT_EQ(call(world, 100), "");
  const Trial trial = world.trial({.count = 7});
  Loopback::Buffers buffers(fake, trial);
  const uint64_t launches = fake.launches, calls = world.world->tuneCounters().calls;
  fake.captured = true;
  EXPECT_TRUE(world.world->call(requestsOf(buffers), nullptr).ok());
  fake.captured = false;
  microseconds = {10, 300, 300};
  for (int replay = 0; replay < 3; ++replay) {
    buffers.fill();
    fake.replay();
    EXPECT_TRUE(fake.isIdle(nullptr));
    EXPECT_EQ(buffers.compare(), "");
  }
  EXPECT_EQ(fake.launches, launches + 3);
  EXPECT_EQ(world.world->tuneCounters().calls, calls);
  EXPECT_EQ(selected(world), "ll");
}

/// There is memory for the first program only.
TEST_F(LoopbackOnline, ProgramsThatCannotBeLoadedAreExcluded) {
  cuda::Options options = online();
  options.timeoutMs = 10000; // each program then has words for the watchdog, in pinned memory
  Loopback watched(allReduces(), options);
  EXPECT_EQ(call(watched, 1), "");
  fake.failFunction = {"CUDA allocatePinned", -1};
  EXPECT_EQ(call(watched, 100), "");
  EXPECT_EQ(selected(watched), "simple");
  EXPECT_EQ(watched.world->tuneCounters().explored, 2U) << "one call for each program that can't be loaded";
}

/// Work on a stream that ends when the test says so. An event follows.
class HeldWork {
public:
  explicit HeldWork(FakeCuda &fake) : fake(fake), stream(fake.stream(0)) {
    fake.enqueue(stream, [this] { return [this] { return isReleased; }; });
  }
  ~HeldWork() { end(); }
  HeldWork(const HeldWork &) = delete;
  HeldWork &operator=(const HeldWork &) = delete;
  void end() {
    if (!std::exchange(isReleased, true)) {
      EXPECT_TRUE(fake.isIdle(stream));
      FakeCuda::table().destroyStream(stream);
    }
  }
  cuda::Stream on() const { return stream; }

private:
  FakeCuda &fake;
  bool isReleased = false;
  const cuda::Stream stream;
};

TEST_F(LoopbackOnline, TrafficIsThatOfOtherCommunicators) {
  const cuda::Cuda &table = FakeCuda::table();
  cuda::OwnEvent events[3];
  for (cuda::OwnEvent &event : events)
    ASSERT_TRUE(cuda::createEvent(table).moveTo(event).ok());
  cuda::InFlight first(table), second(table);
  first.start(events[0].get()), second.start(events[1].get());
  EXPECT_FALSE(first.areOthers());
  {
    HeldWork work(fake);
    const auto note = [&](cuda::InFlight &calls, const cuda::OwnEvent &event) {
      ASSERT_EQ(table.record(event.get(), work.on()), 0);
      calls.note();
    };
    note(second, events[1]);
    EXPECT_TRUE(first.areOthers());
    EXPECT_FALSE(second.areOthers());
    first.setCommunicator(7);
    EXPECT_TRUE(first.areOthers());
    second.setCommunicator(7);
    EXPECT_FALSE(first.areOthers()) << "they are ranks of one communicator";
    {
      cuda::InFlight third(table);
      third.start(events[2].get());
      note(third, events[2]);
      EXPECT_TRUE(first.areOthers());
      EXPECT_TRUE(second.areOthers());
    }
    EXPECT_FALSE(first.areOthers()) << "the third communicator has ended";
    second.setCommunicator(8);
    EXPECT_TRUE(first.areOthers());
  }
  EXPECT_FALSE(first.areOthers());
}

/// Beside calls of another world, another program is the fastest. The change of traffic changes no choice again.
TEST_F(LoopbackOnline, CallsBesideOthersHaveTheirOwnChoices) {
  Loopback world(allReduces(), online()), other(allReduces());
  const Trial trial = other.trial({.count = 7});
  const Loopback::Buffers buffers(fake, trial);
  const auto callBesideOthers = [&](int calls) {
    HeldWork work(fake);
    EXPECT_TRUE(other.world->call(requestsOf(buffers), work.on()).ok());
    microseconds = {100, 60, 20};
    EXPECT_EQ(call(world, calls), "");
    EXPECT_EQ(selected(world), "ll128");
  };
  const auto callAlone = [&](int calls) {
    microseconds = {100, 20, 60};
    EXPECT_EQ(call(world, calls), "");
    EXPECT_EQ(selected(world), "ll");
  };
  callAlone(100);
  callBesideOthers(100);
  const uint64_t changes = world.world->tuneCounters().changes;
  for (int round = 0; round < 3; ++round) {
    callAlone(9);
    callBesideOthers(9);
  }
  EXPECT_EQ(world.world->tuneCounters().changes, changes);
}

/// Frozen choices are the fixed ones, and no call is measured.
TEST_F(LoopbackOnline, FrozenChoices) {
  cuda::Options options = online();
  options.tune.explorable = 0;
  fake.failFunction = {"CUDA createTimedEvent", -1};
  Loopback world(allReduces(), options);
  EXPECT_EQ(call(world, 60), "");
  EXPECT_EQ(selected(world), "simple");
  EXPECT_EQ(world.world->tuneCounters().explored, 0U);
}

/// Calls of one program, which take times by their shape. By default, a block has 64 threads, and a tile 48 elements of
/// each of the three slots.
class LoopbackShapes : public LoopbackOnline {
protected:
  static constexpr uint64_t count = 144;
  struct Times {
    double byDefault = 100, smallTiles = 100, fewThreads = 100;
  };

  LoopbackShapes() {
    fake.threadsPerMultiprocessor = 64;
    fake.duration = [this](const cuda::Launch &launch) {
      last = {static_cast<int>(fake.callOn.at(launch.stream).tileElements), static_cast<int>(launch.threads)};
      return last == std::pair(48, 64)   ? times.byDefault
             : last == std::pair(16, 64) ? times.smallTiles
             : last == std::pair(48, 32) ? times.fewThreads
                                         : -1;
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

  Times times;
  std::pair<int, int> last; ///< elements of a tile, and threads, of the last launch
};

TEST_F(LoopbackShapes, FollowTheTimes) {
  Loopback world(ringAllReduce(ranks, true), shapes());
  EXPECT_EQ(call(world, 1, count), "");
  EXPECT_EQ(last, std::pair(48, 64));
  times.smallTiles = 60;
  EXPECT_EQ(call(world, 40, count), "");
  EXPECT_EQ(last, std::pair(16, 64));
  times = {100, 300, 60};
  EXPECT_EQ(call(world, 40, count), "");
  EXPECT_EQ(last, std::pair(48, 32));
}

/// A captured call keeps its shape.
TEST_F(LoopbackShapes, CapturedCalls) {
  times.fewThreads = 60;
  Loopback world(ringAllReduce(ranks, true), shapes());
  EXPECT_EQ(call(world, 40, count), "");
  const Trial trial = world.trial({.count = count});
  Loopback::Buffers buffers(fake, trial);
  fake.captured = true;
  EXPECT_TRUE(world.world->call(requestsOf(buffers), nullptr).ok());
  fake.captured = false;
  fake.replay();
  EXPECT_TRUE(fake.isIdle(nullptr));
  EXPECT_EQ(buffers.compare(), "");
  EXPECT_EQ(last, std::pair(48, 32));
}

TEST_F(LoopbackShapes, TheUsersThreadsTakePrecedence) {
  times = {100, 300, 10};
  cuda::Options options = shapes();
  options.tuning[0].threads = 64;
  Loopback world(ringAllReduce(ranks, true), options);
  EXPECT_EQ(call(world, 40, count), "");
  EXPECT_EQ(last, std::pair(48, 64));
}

/// Calls of one tile run alike with smaller tiles.
TEST_F(LoopbackShapes, SmallTilesNeedLargeCalls) {
  cuda::Options options = shapes();
  options.tuning[0].threads = 64;
  Loopback world(ringAllReduce(ranks, true), options);
  EXPECT_EQ(call(world, 40, 12), "");
  EXPECT_EQ(world.world->tuneCounters().calls, 0U);
}

} // namespace
