// SPDX-License-Identifier: Apache-2.0
// Tests traces of ranks that share the fake GPU.
#include "LoopbackSupport.h"
#include "Programs.h"
#include "TraceCheck.h"
#include "TraceSupport.h"

using namespace gc3;
using namespace gc3::test;
using core::Outcome;
using kernel::Protocol;

namespace {

cuda::Options tracing(const TracePath &path) {
  cuda::Options options = smallOptions();
  options.trace = trace::TraceFile::named(path.name);
  return options;
}

TEST(LoopbackTrace, HasEachInstructionOnce) {
  for (ProgramSpec spec : {ringAllReduce(3, true), plainRingAllReduce(3), allToAll(3, 2), writesInput(3)})
    for (Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128}) {
      spec.protocol = static_cast<uint8_t>(protocol);
      FakeCuda fake;
      TracePath path;
      {
        Loopback loopback(spec, tracing(path));
        for (uint64_t count : {1, 200, 31})
          EXPECT_EQ(loopback.run(fake, {.count = count, .inPlace = count == 31}), "");
      }
      EXPECT_EQ(fake.leaks(), "");
      const LoadedSpec loaded(spec);
      EXPECT_EQ(checkTrace(Trace(path.name), {loaded.program.get(), {1, 2, 3}, 0, protocol == Protocol::Simple}), "")
          << spec.name << ", protocol " << static_cast<int>(protocol);
    }
}

// The trace must have times of the host's clock. The recorder converts the times of the GPU, whose clock is unrelated.
TEST(LoopbackTrace, IsOnTheHostsTime) {
  FakeCuda fake;
  TracePath path;
  Loopback loopback(ringAllReduce(2, true), tracing(path));
  const uint64_t origin = trace::TraceFile::named(path.name)->origin();
  EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
  const uint64_t after = trace::now();
  loopback.world.reset();
  const std::vector<TraceEvent> calls = Trace(path.name).find("X", loopback.name);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_LE(calls[0].end, after - origin);
}

// The trace contains only the last replay of a captured call, with the number of that call. It omits captured calls
// that are never replayed.
TEST(LoopbackTrace, HasTheLastReplay) {
  FakeCuda fake;
  TracePath path;
  const ProgramSpec spec = ringAllReduce(3, true);
  {
    Loopback loopback(spec, tracing(path));
    EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
    const Trial trial = loopback.trial({.count = 5});
    Loopback::Buffers buffers(fake, trial), others(fake, trial);
    fake.captured = true;
    EXPECT_TRUE(loopback.world->call(buffers.requests, nullptr).ok());
    fake.captured = false;
    fake.replay();
    EXPECT_EQ(buffers.compare(), "");
    EXPECT_EQ(loopback.run(fake, {.count = 31}), "");
    fake.replay();
    fake.captured = true;
    EXPECT_TRUE(loopback.world->call(others.requests, nullptr).ok());
    fake.captured = false;
  }
  EXPECT_EQ(fake.leaks(), "");
  const Trace trace(path.name);
  EXPECT_EQ(checkTrace(trace, {LoadedSpec(spec).program.get(), {1, 2, 3}}), "");
  const std::vector<TraceEvent> calls = trace.find("X", spec.name); // sorted by rank, then by number
  EXPECT_EQ(calls[1].arguments.at("call"), "2");
  EXPECT_GE(calls[1].begin, calls[2].end) << "it was replayed after the other call";
}

// A captured call gets at most 1/16 of the records for captured calls: here 16384 for each of 3 thread blocks. The test
// captures so many calls that no records are left for the last call.
TEST(LoopbackTrace, CapturedCallsShareTheRing) {
  FakeCuda fake;
  TracePath path;
  const ProgramSpec spec = ringAllReduce(3, true);
  testing::internal::CaptureStderr();
  {
    Loopback loopback(spec, tracing(path));
    EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
    const Trial trial = loopback.trial({.count = 1 << 23});
    Loopback::Buffers buffers(fake, trial);
    fake.captured = true;
    for (size_t i = 0; i < cuda::Recorder::mostRecords / (3 * 16384) + 1; ++i)
      EXPECT_TRUE(loopback.world->call(buffers.requests, nullptr).ok());
    fake.captured = false;
  }
  EXPECT_EQ(fake.leaks(), "");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lacks 1 calls, and 0 instructions"), std::string::npos);
  EXPECT_EQ(checkTrace(Trace(path.name), {LoadedSpec(spec).program.get(), {1}}), "");
}

// A call that is traced waits for its kernel. This kernel deadlocks, and ends only because another thread calls
// watch().
TEST(LoopbackTrace, StuckKernelsAreStopped) {
  FakeCuda fake;
  TracePath path;
  {
    cuda::Options options = tracing(path);
    options.timeoutMs = 100;
    Loopback loopback(deadlock(), options);
    const Trial trial = loopback.trial({.count = 5});
    Loopback::Buffers buffers(fake, trial);
    const cuda::Watchdog::Clock::time_point start{};
    const auto watch = [&] {
      for (int ms : {0, 100, 101})
        loopback.world->watch(start + std::chrono::milliseconds(ms));
    };
    fake.meanwhile = [&] { fake.meanwhile = watch; }; // skips the first wait, which is for loading the program
    EXPECT_EQ(loopback.world->call(buffers.requests, nullptr).code, gc3Success);
    EXPECT_EQ(loopback.world->watch(start).code, gc3Timeout);
  }
  const Trace trace(path.name);
  const std::vector<TraceEvent> calls = trace.find("X", "deadlock");
  ASSERT_EQ(calls.size(), 2u);
  for (const TraceEvent &call : calls)
    EXPECT_EQ(call.arguments.at("unfinished"), "1");
}

// While a traced call waits for its kernel, other threads can call watch(). The program is loaded already, so this wait
// is the only one of the call.
TEST(LoopbackTrace, WaitsWithoutALock) {
  FakeCuda fake;
  TracePath path;
  cuda::Options options = tracing(path);
  options.timeoutMs = 100;
  Loopback loopback(ringAllReduce(2, true), options);
  EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
  bool watched = false;
  fake.meanwhile = [&] { watched = loopback.world->watch({}).ok(); };
  EXPECT_EQ(loopback.run(fake, {.count = 5}), "");
  EXPECT_TRUE(watched);
}

// Simulates the records of a call of 5 steps in 3 tiles, in rings of 4 records.
TEST(LoopbackTrace, KeepsTheLastSteps) {
  FakeCuda fake;
  TracePath path;
  const LoadedSpec spec(ringAllReduce(3, true));
  testing::internal::CaptureStderr();
  {
    cuda::Recorder recorder(FakeCuda::table(), *trace::TraceFile::named(path.name), {0, 3}, 15);
    kernel::KernelArgs call{};
    call.tiles = 3;
    ASSERT_TRUE(recorder.begin(*spec.program, 6, call, nullptr).ok());
    ASSERT_EQ(call.ringRecords, 4u);
    for (uint64_t block = 0; block < 3; ++block)
      for (uint64_t number = 0; number < 15; ++number)
        call.records[4 * block + number % 4] = {number % 5, number / 5, 1000 + 10 * number, 1005 + 10 * number};
    EXPECT_TRUE(recorder.end(nullptr).ok());
    EXPECT_TRUE(recorder.finish(nullptr).ok());
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lacks 0 calls, and 33 instructions of other calls"),
            std::string::npos);
  const Trace trace(path.name);
  for (const TraceEvent &call : trace.find("X", spec.program->info().name()->str())) {
    EXPECT_EQ(call.arguments.at("missing"), "11");
    EXPECT_EQ(call.arguments.count("unfinished"), 0u);
    EXPECT_EQ(call.end - call.begin, 35u);
  }
  EXPECT_EQ(trace.find("X", "recv").size(), 3u) << "the last step of the last tile";
  EXPECT_EQ(trace.find("X", "send").size(), 0u);
  EXPECT_EQ(trace.find("i", "not recorded")[0].arguments.at("instructions"), "33");
}

// A completed call leaves free space at the beginning of the ring. A larger call must not use this space, because its
// records would overlap those of a running call.
TEST(LoopbackTrace, NoCallOverlapsARunningOne) {
  FakeCuda fake;
  TracePath path;
  const LoadedSpec spec(ringAllReduce(2, true)); // 3 steps on each rank: rings of 4 records for one tile, 8 for two
  testing::internal::CaptureStderr();
  {
    cuda::Recorder recorder(FakeCuda::table(), *trace::TraceFile::named(path.name), {0, 2}, 32);
    recorder.reserveAll();
    bool mayEnd = false;
    const cuda::Stream held = fake.stream(0), other = fake.stream(0);
    const auto call = [&](cuda::Stream stream, uint64_t tiles) {
      kernel::KernelArgs made{};
      made.tiles = tiles;
      EXPECT_TRUE(recorder.begin(*spec.program, 6, made, stream).ok());
      EXPECT_TRUE(recorder.end(stream).ok());
      return made.records;
    };
    bool isFirst = true;
    fake.enqueue(other, [&] { return [&] { return !isFirst; }; });
    const kernel::StepTimes *const first = call(other, 1);
    fake.enqueue(held, [&] { return [&] { return mayEnd; }; });
    EXPECT_EQ(call(held, 1), first + 8);
    EXPECT_EQ(call(held, 2), first + 16);
    isFirst = false;
    EXPECT_TRUE(fake.isIdle(other));
    EXPECT_EQ(call(held, 2), nullptr) << "8 are free";
    EXPECT_EQ(call(held, 1), first);
    mayEnd = true;
    EXPECT_TRUE(recorder.finish(held).ok());
    FakeCuda::table().destroyStream(held);
    FakeCuda::table().destroyStream(other);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lacks 1 calls"), std::string::npos);
}

// Running calls have separate parts of the ring. If too little space is free, a call runs without being recorded.
TEST(LoopbackTrace, RunningCallsShareTheRing) {
  FakeCuda fake;
  TracePath path;
  const LoadedSpec spec(ringAllReduce(2, true)); // 3 steps on each rank: rings of 4 records
  testing::internal::CaptureStderr();
  {
    cuda::Recorder recorder(FakeCuda::table(), *trace::TraceFile::named(path.name), {0, 2}, 16);
    recorder.reserveAll();
    cuda::Stream streams[2] = {};
    for (cuda::Stream &stream : streams)
      FakeCuda::table().createStream(&stream);
    bool isHeld[2] = {true, true};
    const auto call = [&](size_t number) {
      kernel::KernelArgs made{};
      made.tiles = 1;
      EXPECT_TRUE(recorder.begin(*spec.program, 6, made, streams[number]).ok());
      fake.enqueue(streams[number], [&isHeld, number] { return [&isHeld, number] { return !isHeld[number]; }; });
      EXPECT_TRUE(recorder.end(streams[number]).ok());
      return made.records;
    };
    const kernel::StepTimes *const first = call(0);
    EXPECT_EQ(call(1), first + 8);
    isHeld[0] = false;
    EXPECT_TRUE(fake.isIdle(streams[0]));
    isHeld[0] = true;
    EXPECT_EQ(call(0), first) << "the first call has ended";
    EXPECT_EQ(call(0), nullptr) << "no other call has ended";
    isHeld[0] = isHeld[1] = false;
    EXPECT_TRUE(fake.isIdle(streams[0]) && fake.isIdle(streams[1]));
    EXPECT_EQ(call(1), first) << "no call is running";
    EXPECT_TRUE(recorder.finish(streams[1]).ok());
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lacks 1 calls, "), std::string::npos);
  EXPECT_EQ(Trace(path.name).find("X", spec.program->info().name()->str()).size(), 8u) << "calls of two ranks";
}

// A CUDA error fails the call, with one exception: if memory for records can't be allocated, the call runs without
// being recorded.
TEST(LoopbackTrace, EveryCallMayFail) {
  uint64_t calls = 1, unrecorded = 0, lost = 0;
  for (uint64_t failing = 0; failing <= calls; ++failing) { // 0: no call fails
    FakeCuda fake;
    fake.failAt = failing;
    TracePath path;
    testing::internal::CaptureStderr();
    Outcome outcome;
    {
      Loopback loopback(ringAllReduce(2, true), tracing(path));
      outcome = loopback.made;
      const Trial trial = loopback.trial({.count = 9});
      Loopback::Buffers buffers(fake, trial);
      for (int i = 0; i < 2 && outcome.ok(); ++i)
        outcome = loopback.world->call(buffers.requests, nullptr);
      fake.captured = outcome.ok();
      if (outcome.ok())
        outcome = loopback.world->call(buffers.requests, nullptr);
      fake.captured = false;
      if (outcome.ok())
        fake.replay();
      if (failing == 0)
        calls = fake.calls;
    }
    const std::string logged = testing::internal::GetCapturedStderr();
    if (outcome.ok() && failing != 0) {
      EXPECT_TRUE(logged.ends_with(": fake failure (CUDA error 2)\n")) << logged;
      unrecorded += logged.starts_with("gc3: later calls are not recorded: allocating ");
      lost += logged.starts_with("gc3: a captured call is not recorded: allocating ");
      EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
    } else if (failing != 0) {
      EXPECT_EQ(outcome.code, gc3UnhandledCudaError);
      EXPECT_EQ(logged, "");
    }
    EXPECT_EQ(fake.leaks(), "") << "call " << failing;
    EXPECT_EQ(Trace(path.name).problem, "");
  }
  EXPECT_EQ(unrecorded, 2u) << "one on the GPU, one on the host";
  EXPECT_EQ(lost, 2u) << "captured calls: one on the GPU, one on the host";
}

} // namespace
