// SPDX-License-Identifier: Apache-2.0
// Tests the order of calls on several streams, and of captured and replayed calls.
#include "LoopbackSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// A communicator of three ranks with a loaded program, and two streams that the test can block.
class Order {
public:
  explicit Order(const cuda::Options &options = smallOptions()) : loopback(ringAllReduce(3, true), options) {
    EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
    fake.launches = 0;
  }
  ~Order() {
    FakeCuda::table().destroyStream(first);
    FakeCuda::table().destroyStream(other);
  }
  Order(const Order &) = delete;
  Order &operator=(const Order &) = delete;

  void call(cuda::Stream stream) { EXPECT_EQ(loopback.world->call(buffers.requests, stream).text, ""); }
  /// Captures a call on the stream, as a graph of its own. FakeCuda::replay() runs all graphs.
  void capture(cuda::Stream stream) {
    fake.captured = true;
    call(stream);
    fake.captured = false;
  }
  /// Blocks later work on the stream until open().
  void close(cuda::Stream stream) {
    isOpen = false;
    fake.enqueue(stream, [this] { return [this] { return isOpen; }; });
  }
  /// Unblocks the streams. Returns the number of calls that had run before, and the number after all calls have run.
  std::pair<uint64_t, uint64_t> open() {
    fake.isIdle(first);
    const uint64_t before = fake.launches;
    isOpen = true;
    EXPECT_TRUE(fake.isIdle(first) && fake.isIdle(other));
    return {before, fake.launches};
  }

  FakeCuda fake;
  Loopback loopback;
  const Trial trial = loopback.trial({.count = 5});
  Loopback::Buffers buffers{fake, trial};
  const cuda::Stream first = fake.stream(0), other = fake.stream(0);
  bool isOpen = false;
};
using Counts = std::pair<uint64_t, uint64_t>;

TEST(LoopbackOrder, CallsOnAnotherStreamRunAfterwards) {
  Order order;
  order.close(order.first);
  order.call(order.first);
  order.call(order.other);
  EXPECT_EQ(order.open(), Counts(0, 2));
}

TEST(LoopbackOrder, CallsRunAfterReplays) {
  Order order;
  order.capture(order.first);
  order.close(order.first);
  order.fake.replay();
  order.call(order.other);
  EXPECT_EQ(order.open(), Counts(0, 2));
}

TEST(LoopbackOrder, ReplaysRunAfterCalls) {
  Order order;
  order.capture(order.other);
  order.close(order.first);
  order.call(order.first);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(0, 2));
}

TEST(LoopbackOrder, GraphsReplayOneAfterTheOther) {
  Order order;
  order.capture(order.first);
  order.capture(order.other);
  order.close(order.first);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(0, 2));
}

TEST(LoopbackOrder, CallsOfOneCapture) {
  Order order;
  order.fake.captured = true;
  order.call(order.first);
  order.call(order.other);
  order.fake.captured = false;
  order.close(order.first);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(0, 2));
}

TEST(LoopbackOrder, CallsOfOneCaptureReturnToAStream) {
  Order order;
  order.fake.captured = true;
  for (cuda::Stream stream : {order.first, order.other, order.first})
    order.call(stream);
  order.fake.captured = false;
  order.close(order.other);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(1, 3));
}

/// A communicator keeps an event for each capture, but only for the latest 256 captures (Runner::mostCaptures).
TEST(LoopbackOrder, ManyCaptures) {
  Order order;
  std::vector<size_t> events;
  for (int capture = 0; capture < 300; ++capture) {
    order.capture(order.first);
    events.push_back(order.fake.allocated(0)[2]);
  }
  EXPECT_EQ(events.back(), events[255]);
  EXPECT_EQ(events[255], events[0] + 255);
}

/// Between two calls of one capture, another capture begins and ends.
TEST(LoopbackOrder, CallsOfOneCaptureAmongOthers) {
  cuda::Options options = smallOptions();
  options.mixesGraphs = false;
  Order order(options);
  order.capture(order.first);
  order.capture(order.other);
  order.fake.captured.resume(1);
  order.call(order.other);
  order.fake.captured = false;
  order.close(order.first);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(1, 3)) << "the call of the other capture waits for no call";
}

/// Tests NCCL_GRAPH_MIXING_SUPPORT=0, for applications that order replays themselves. gc3 then orders only the calls
/// within a graph.
TEST(LoopbackOrder, ReplaysMayBeLeftAlone) {
  cuda::Options options = smallOptions();
  options.mixesGraphs = false;
  Order order(options);
  order.fake.captured = true;
  order.call(order.other);
  order.call(order.first);
  order.fake.captured = false;
  order.close(order.other);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(0, 2));
  order.close(order.first);
  order.call(order.first);
  order.fake.drop(order.first);
  order.fake.replay();
  EXPECT_EQ(order.open(), Counts(3, 4)) << "the replay does not wait for the call";
  EXPECT_EQ(order.fake.externals, 0u);
}

/// A communicator waits for its replays before it frees their memory.
TEST(LoopbackOrder, ACommunicatorEndsAfterReplays) {
  Order order;
  order.capture(order.first);
  order.close(order.first);
  order.fake.replay();
  int queries = 0;
  order.fake.duringQuery = [&] { order.isOpen = ++queries > 1; };
  order.loopback.world.reset();
  EXPECT_EQ(order.fake.launches, 1u);
  order.fake.duringQuery = nullptr;
}

TEST(LoopbackOrder, GraphsReplay) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(3, true));
  ASSERT_EQ(loopback.run(fake, {.count = 100, .inPlace = true}), "");
  const Trial trial = loopback.trial({.count = 77, .inPlace = true, .seed = 5});
  Loopback::Buffers buffers(fake, trial);
  fake.captured = true;
  ASSERT_TRUE(loopback.world->call(buffers.requests, nullptr).ok());
  fake.captured = false;
  EXPECT_EQ(fake.launches, 1u);
  for (int i = 0; i < 3; ++i) {
    buffers.fill();
    fake.replay();
    EXPECT_EQ(buffers.compare(), "");
  }
  EXPECT_EQ(loopback.run(fake, {.count = 41}), ""); // the replays used the same connections and must leave them usable
}

/// An immediate scalar is part of the graph. A replay reads a scalar in memory anew. A call after the replay uses its
/// own scalar, or none if it is a plain sum.
TEST(LoopbackOrder, GraphsReplayWithTheirScalars) {
  for (Scalars scalars : {Scalars::Immediate, Scalars::InMemory}) {
    FakeCuda fake;
    Loopback loopback(ringAllReduce(3, true));
    const TrialOptions options{.count = 77, .inPlace = true, .seed = 5, .scalars = scalars};
    ASSERT_EQ(loopback.run(fake, options), "");
    Trial trial = loopback.trial(options);
    Loopback::Buffers buffers(fake, trial);
    fake.captured = true;
    ASSERT_TRUE(loopback.world->call(buffers.requests, nullptr).ok());
    fake.captured = false;
    for (uint64_t replay = 0; replay < 3; ++replay) {
      if (scalars == Scalars::InMemory)
        trial.drawScalars(replay);
      buffers.fill();
      fake.replay();
      EXPECT_EQ(buffers.compare(), "");
      EXPECT_EQ(loopback.run(fake, {.count = 77, .inPlace = true, .seed = replay, .scalars = scalars}), "");
      EXPECT_EQ(loopback.run(fake, {.count = 77, .inPlace = true, .seed = replay}), "") << "a sum";
    }
  }
}

} // namespace
