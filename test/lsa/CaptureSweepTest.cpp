// SPDX-License-Identifier: Apache-2.0
// Calls that are captured, of ranks on several GPUs, where each call into CUDA fails in turn. A rank that fails is
// broken; the graphs of the others are whole, and wait for it when they are replayed, until they are aborted.
#include "LsaSweep.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// A call of all ranks, captured, and what each of them says.
std::vector<lsa::RankCall> capture(LsaWorld &world, const Loopback::Buffers &buffers) {
  std::vector<lsa::RankCall> calls;
  for (size_t rank = 0; rank < world.comms.size(); ++rank)
    calls.push_back(world.part(rank, buffers.requests[rank]));
  world.cuda.captured = true;
  lsa::run(calls, world.nccl);
  world.cuda.captured = false;
  return calls;
}

/// Replays what was captured as a whole, twice.
std::string replay(LsaWorld &world, const Trial &trial, Loopback::Buffers &buffers,
                   const std::vector<lsa::RankCall> &calls) {
  std::set<std::string> said;
  for (const lsa::RankCall &call : calls) {
    EXPECT_FALSE(call.declined);
    EXPECT_EQ(call.rank->broken().text, call.outcome.text) << "it stays so";
    said.insert(tell(call.outcome));
    if (!call.outcome.ok())
      world.cuda.drop(call.stream);
  }
  const bool isWhole = together(said) == "ok";
  for (int time = 0; time < 2; ++time) {
    buffers.fill();
    world.cuda.replay();
    if (isWhole) {
      EXPECT_EQ(world.finish(trial, buffers), "");
    }
  }
  if (isWhole)
    return callOf(world, {.count = 9}); // not captured
  const bool waits = anyWaits(world);
  if (waits)
    abortAll(world);
  EXPECT_FALSE(anyWaits(world));
  return "broken: " + together(said) + (waits ? "; aborted, as replays waited" : "");
}

/// Of a program that is loaded; the call takes memory.
std::string captureAndReplay(FakeCuda &fake, FakeWindows &windows, const ProgramSpec &spec) {
  const uint64_t failAt = std::exchange(fake.failAt, 0);
  std::string came;
  {
    LsaWorld world(fake, windows, {spec});
    EXPECT_EQ(callOf(world, {.count = 1}), "");
    const Trial trial = world.trial(0, {.count = 90, .op = core::ReduceOp::Avg});
    Loopback::Buffers buffers(fake, trial);
    fake.calls = 0;
    fake.failAt = failAt;
    const std::vector<lsa::RankCall> calls = capture(world, buffers);
    came = replay(world, trial, buffers, calls);
  }
  return (came.empty() ? "ran" : came) + leftBy(fake, windows);
}

TEST(LsaCaptureSweep, WithinANode) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    FakeWindows windows(fake);
    return captureAndReplay(fake, windows, reduceScatter(2, true));
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as replays waited; left: 9 memory 2 pinned 1 events 2 symmetric 2 windows
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as replays waited; left: 9 memory 2 pinned 1 events 2 symmetric 2 windows
CUDA allocate -> ran
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as replays waited; left: 9 memory 2 pinned 1 events 2 symmetric 2 windows
CUDA setDevice -> ran; on another device
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 1 events 2 symmetric 2 windows
CUDA awaitExternal -> broken: gc3UnhandledCudaError: having replays wait for the last call [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching a kernel [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA recordExternal -> broken: gc3UnhandledCudaError: having replays record an event [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA createEvent -> broken: gc3UnhandledCudaError: creating an event [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA record -> broken: gc3UnhandledCudaError: recording an event in a capture [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as replays waited; left: 10 memory 2 pinned 1 events 2 symmetric 2 windows
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA launch -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as others waited; left: 10 memory 2 pinned 2 events 2 symmetric 2 windows
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA] / ok
CUDA getDevice -> ran
CUDA query -> ran
CUDA setDevice -> ran
)");
}

TEST(LsaCaptureSweep, OverANetwork) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    FakeWindows windows(fake);
    windows.teamSize = 1;
    return captureAndReplay(fake, windows, reduceScatter(2, true));
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as replays waited; left: 11 memory 2 pinned 1 events 2 symmetric 2 windows 2 device communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as replays waited; left: 11 memory 2 pinned 1 events 2 symmetric 2 windows 2 device communicators
CUDA allocate -> ran
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as replays waited; left: 11 memory 2 pinned 1 events 2 symmetric 2 windows 2 device communicators
CUDA setDevice -> ran; on another device
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 1 events 2 symmetric 2 windows 2 device communicators
CUDA awaitExternal -> broken: gc3UnhandledCudaError: having replays wait for the last call [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA launch -> broken: gc3UnhandledCudaError: launching a kernel [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA launchOverNetwork -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA recordExternal -> broken: gc3UnhandledCudaError: having replays record an event [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA createEvent -> broken: gc3UnhandledCudaError: creating an event [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA record -> broken: gc3UnhandledCudaError: recording an event in a capture [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as replays waited; left: 12 memory 2 pinned 1 events 2 symmetric 2 windows 2 device communicators
CUDA capture -> broken: gc3UnhandledCudaError: asking whether the stream is captured [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA getDevice -> broken: gc3UnhandledCudaError: asking for the current device [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA setDevice -> broken: gc3UnhandledCudaError: switching to device # [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA await -> broken: gc3UnhandledCudaError: waiting for the last call [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA launchOverNetwork -> broken: gc3UnhandledCudaError: launching the interpreter [CUDA] / ok; aborted, as others waited; left: 12 memory 2 pinned 2 events 2 symmetric 2 windows 2 device communicators
CUDA copy -> broken: gc3UnhandledCudaError: copying a buffer [CUDA] / ok
CUDA record -> broken: gc3UnhandledCudaError: recording an event [CUDA] / ok
CUDA getDevice -> ran
CUDA query -> ran
CUDA setDevice -> ran
)");
}

/// While a program is not loaded, all ranks decline, whatever else fails.
TEST(LsaCaptureSweep, NotLoaded) {
  Sweep sweep;
  sweep.over([](FakeCuda &fake) {
    const uint64_t failAt = std::exchange(fake.failAt, 0);
    FakeWindows windows(fake);
    std::set<std::string> said;
    {
      LsaWorld world(fake, windows, {reduceScatter(2, true)});
      const Trial trial = world.trial(0, {.count = 9});
      Loopback::Buffers buffers(fake, trial);
      fake.calls = 0;
      fake.failAt = failAt;
      for (const lsa::RankCall &call : capture(world, buffers)) {
        said.insert((call.declined ? "declined: " : "") + tell(call.outcome));
        EXPECT_TRUE(call.rank->broken().ok() || !call.declined);
      }
    }
    return together(said) + leftBy(fake, windows);
  });
  EXPECT_EQ(sweep.lines(), R"(
nothing -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before
CUDA capture -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before
CUDA getDevice -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before
CUDA query -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before
CUDA setDevice -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before
CUDA setDevice -> declined: gc3InvalidUsage: program 'direct_rs2_aliased' can't be loaded while the stream is captured: make such a call once before; on another device
)");
}

} // namespace
