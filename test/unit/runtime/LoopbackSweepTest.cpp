// SPDX-License-Identifier: Apache-2.0
// Repeats calls of ranks that share one GPU. In each repetition a different CUDA call fails, and the gc3 call must
// return the error. The next gc3 call must succeed, unless gc3 cannot order it after the failed call.
#include "LoopbackSupport.h"
#include "Programs.h"
#include "Sweep.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::Outcome;
using core::ReduceOp;

namespace {

/// Makes a call. If it fails, makes a second call, which also fails if the world no longer accepts calls. Returns the
/// outcomes of both calls. If the first call succeeds, returns an empty string, or a message if its results are wrong.
std::string callOf(FakeCuda &fake, Loopback &loopback, const TrialOptions &options, cuda::Stream stream) {
  const Trial trial = loopback.trial(options);
  Loopback::Buffers buffers(fake, trial);
  const Outcome outcome = loopback.world->call(buffers.requests, stream);
  if (outcome.ok())
    return buffers.compare();
  buffers.fill();
  const Outcome next = loopback.world->call(buffers.requests, stream);
  if (!next.ok()) {
    EXPECT_EQ(describe(loopback.world->watch({})), describe(next));
  }
  return describe(outcome) +
         (next.ok() ? "; the next one ran" + buffers.compare() : "; the next one: " + describe(next));
}

/// Makes two calls of a program that needs all kinds of CUDA calls. The current device of the thread is not the device
/// of the world. Returns "ran", or a description of the error.
std::string makeAndCall(FakeCuda &fake) {
  std::string came;
  fake.currentDevice = 1;
  {
    cuda::Options options = smallOptions();
    options.timeoutMs = 1000;
    Loopback loopback(reduceScatter(2, true), options);
    fake.currentDevice = 0;
    int streams[2];
    auto call = [&](const char *name, ElementType type, int &stream) {
      if (!came.empty())
        return;
      const TrialOptions trial{.count = 9, .type = type, .op = ReduceOp::Avg};
      const std::string outcome = callOf(fake, loopback, trial, reinterpret_cast<cuda::Stream>(&stream));
      came += outcome.empty() ? "" : name + outcome;
    };
    if (loopback.made.ok()) {
      call("first call: ", ElementType::Float, streams[0]);
      call("second call: ", ElementType::Int32, streams[1]);
      if (Outcome watched = loopback.world->watch({}); came.empty() && !watched.ok())
        came = "watched: " + describe(watched);
    } else {
      came = "not made: " + describe(loopback.made);
    }
  }
  return (came.empty() ? "ran" : came) + (fake.currentDevice != 0 ? "; on another device" : "") + left(fake.leaks());
}

TEST(LoopbackSweep, MakingAndCalling) {
  Sweep sweep;
  sweep.over(makeAndCall);
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
CUDA getDevice -> not made: gc3UnhandledCudaError: querying the current device [CUDA]
CUDA attribute -> not made: gc3UnhandledCudaError: querying the GPU's attributes [CUDA]
CUDA createStream -> not made: gc3UnhandledCudaError: creating a stream [CUDA]
CUDA allocatePinned -> not made: gc3UnhandledCudaError: allocating # bytes of pinned memory for the stop word [CUDA]
CUDA createEvent -> not made: gc3UnhandledCudaError: creating an event [CUDA]
CUDA getDevice -> first call: gc3UnhandledCudaError: querying the current device [CUDA]; the next one ran
CUDA setDevice -> first call: gc3UnhandledCudaError: switching to device # [CUDA]; the next one ran
CUDA capture -> first call: gc3UnhandledCudaError: querying whether the stream is captured [CUDA]; the next one ran
CUDA occupancy -> first call: gc3UnhandledCudaError: querying the occupancy of a kernel [CUDA]; the next one ran
CUDA allocatePinned -> first call: gc3UnhandledCudaError: allocating # bytes of pinned memory for program 'direct_rs2_aliased' [CUDA]; the next one ran
CUDA allocate -> first call: gc3UnhandledCudaError: allocating # bytes of device memory for program 'direct_rs2_aliased' [CUDA]; the next one ran
CUDA allocate -> first call: gc3UnhandledCudaError: allocating # bytes of device memory for the FIFO slots of program 'direct_rs2_aliased' [CUDA]; the next one ran
CUDA clear -> first call: gc3UnhandledCudaError: clearing FIFO slots [CUDA]; the next one ran
CUDA clear -> first call: gc3UnhandledCudaError: clearing a program's counters [CUDA]; the next one ran
CUDA copy -> first call: gc3UnhandledCudaError: copying a program [CUDA]; the next one ran
CUDA synchronize -> first call: gc3UnhandledCudaError: copying a program [CUDA]; the next one ran
CUDA allocate -> ran
CUDA await -> first call: gc3UnhandledCudaError: waiting for the last call [CUDA]; the next one ran
CUDA launch -> first call: gc3UnhandledCudaError: launching a kernel [CUDA]; the next one ran
CUDA launch -> first call: gc3UnhandledCudaError: launching the interpreter [CUDA]; the next one ran
CUDA copy -> first call: gc3UnhandledCudaError: copying a buffer [CUDA]; the next one ran
CUDA record -> first call: gc3UnhandledCudaError: recording an event [CUDA]; the next one: gc3UnhandledCudaError: recording an event [CUDA]
CUDA setDevice -> ran; on another device
CUDA getDevice -> second call: gc3UnhandledCudaError: querying the current device [CUDA]; the next one ran
CUDA setDevice -> second call: gc3UnhandledCudaError: switching to device # [CUDA]; the next one ran
CUDA capture -> second call: gc3UnhandledCudaError: querying whether the stream is captured [CUDA]; the next one ran
CUDA await -> second call: gc3UnhandledCudaError: waiting for the last call [CUDA]; the next one ran
CUDA copy -> second call: gc3UnhandledCudaError: copying a buffer [CUDA]; the next one ran
CUDA launch -> second call: gc3UnhandledCudaError: launching the interpreter [CUDA]; the next one ran
CUDA launch -> second call: gc3UnhandledCudaError: launching a kernel [CUDA]; the next one ran
CUDA record -> second call: gc3UnhandledCudaError: recording an event [CUDA]; the next one: gc3UnhandledCudaError: recording an event [CUDA]
CUDA query -> watched: gc3UnhandledCudaError: running a call [CUDA]
CUDA query -> ran
)");
}

/// Captures a call of a loaded program. Replays the call if no CUDA call failed during the capture. Returns "ran", or a
/// description of the error.
std::string captureAndReplay(FakeCuda &fake) {
  const uint64_t failAt = std::exchange(fake.failAt, 0);
  std::string came;
  {
    cuda::Options options = smallOptions();
    options.timeoutMs = 1000;
    fake.currentDevice = 1;
    Loopback loopback(reduceScatter(2, true), options);
    fake.currentDevice = 0;
    int one = 0;
    const auto stream = reinterpret_cast<cuda::Stream>(&one);
    EXPECT_EQ(callOf(fake, loopback, {.count = 1}, stream), "");
    const Trial trial = loopback.trial({.count = 90, .op = ReduceOp::Avg}); // needs additional memory
    Loopback::Buffers buffers(fake, trial);
    fake.calls = 0;
    fake.failAt = failAt;
    fake.captured = true;
    const Outcome captured = loopback.world->call(buffers.requests, stream);
    fake.captured = false;
    for (int replay = 0; captured.ok() && replay < 2; ++replay) {
      buffers.fill();
      fake.replay();
      came += buffers.compare();
    }
    if (!captured.ok()) {
      fake.drop(stream);
      came = describe(captured);
      EXPECT_EQ(callOf(fake, loopback, {.count = 90, .op = ReduceOp::Avg}, stream), "") << "outside of the capture";
    }
    if (Outcome watched = loopback.world->watch({}); !watched.ok())
      came += "watched: " + describe(watched);
  }
  return (came.empty() ? "ran" : came) + (fake.currentDevice != 0 ? "; on another device" : "") + left(fake.leaks());
}

TEST(LoopbackSweep, CapturedCalls) {
  Sweep sweep;
  sweep.over(captureAndReplay);
  EXPECT_EQ(sweep.lines(), R"(
nothing -> ran
CUDA getDevice -> gc3UnhandledCudaError: querying the current device [CUDA]
CUDA setDevice -> gc3UnhandledCudaError: switching to device # [CUDA]
CUDA capture -> gc3UnhandledCudaError: querying whether the stream is captured [CUDA]
CUDA allocate -> ran
CUDA awaitExternal -> gc3UnhandledCudaError: making replays wait for the last call [CUDA]
CUDA launch -> gc3UnhandledCudaError: launching a kernel [CUDA]
CUDA launch -> gc3UnhandledCudaError: launching the interpreter [CUDA]
CUDA copy -> gc3UnhandledCudaError: copying a buffer [CUDA]
CUDA recordExternal -> gc3UnhandledCudaError: making replays record an event [CUDA]
CUDA createEvent -> gc3UnhandledCudaError: creating an event [CUDA]
CUDA record -> gc3UnhandledCudaError: recording an event in a capture [CUDA]
CUDA setDevice -> ran; on another device
CUDA query -> watched: gc3UnhandledCudaError: running a call [CUDA]
CUDA query -> ran
)");
}

} // namespace
