// SPDX-License-Identifier: Apache-2.0
// Tests errors of a loopback world: rejected calls, CUDA errors, and kernels that do not end.
#include "LoopbackSupport.h"
#include "Programs.h"

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using core::Outcome;
using core::ReduceOp;

namespace {

void expect(const Outcome &outcome, gc3Result_t code, const std::string &text) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.text, text);
}

/// Makes the call that `options` describe, and returns its outcome.
Outcome outcomeOf(FakeCuda &fake, Loopback &loopback, const TrialOptions &options) {
  const Trial trial = loopback.trial(options);
  Loopback::Buffers buffers(fake, trial);
  return loopback.world->call(buffers.requests, nullptr);
}

TEST(LoopbackErrors, MoreBlocksThanFit) {
  FakeCuda fake;
  fake.multiprocessors = 2;
  fake.threadsPerMultiprocessor = 64;
  Loopback loopback(ringAllReduce(5, true), {});
  expect(
      outcomeOf(fake, loopback, {}), gc3InvalidUsage,
      "program 'ring5_aliased_1' has 5 thread blocks on its 5 ranks; this GPU can hold 4 at once, of 32 threads each");
  EXPECT_EQ(fake.launches, 0u);
}

TEST(LoopbackErrors, MoreRanksThanOneGpuCanRun) {
  FakeCuda fake;
  Loopback loopback(broadcast(33, 0));
  expect(outcomeOf(fake, loopback, {}), gc3InvalidUsage,
         "program 'bcast33_0' has 33 ranks; one GPU can run at most 32");
}

/// The allocator of an application can hold all device memory. Private copies are then in pinned host memory, if CUDA
/// can allocate it.
TEST(LoopbackErrors, AFullGpu) {
  FakeCuda fake;
  const std::string onGpu = "allocating 1920 bytes of device memory for scratch and private copies: fake failure (CUDA "
                            "error 2)";
  for (uint64_t call = 0; fake.failed != "CUDA allocatePinned"; ++call) {
    Loopback loopback(reduceScatter(3, true));
    ASSERT_EQ(loopback.run(fake, {.count = 1}), "");
    fake.full = true;
    fake.failed.clear();
    fake.failAt = call == 0 ? 0 : fake.calls + call;
    testing::internal::CaptureStderr();
    const std::string problem = loopback.run(fake, {.count = 50, .op = core::ReduceOp::Avg});
    const std::string logged = testing::internal::GetCapturedStderr();
    fake.full = false;
    if (call == 0) {
      EXPECT_EQ(problem, "");
      const std::string before = fake.leaks();
      EXPECT_EQ(loopback.run(fake, {.count = 40, .op = core::ReduceOp::Avg}), "")
          << "the allocated segment is large enough";
      EXPECT_EQ(fake.leaks(), before);
      fake.full = false;
      EXPECT_EQ(loopback.run(fake, {.count = 500, .op = core::ReduceOp::Avg}), "") << "on the GPU again";
      EXPECT_NE(fake.leaks(), before);
      EXPECT_EQ(logged, "gc3: " + onGpu + "; host memory is used instead, which is slow\n");
    } else if (fake.failed == "CUDA allocatePinned") {
      EXPECT_EQ(problem, onGpu + "; allocating 1920 bytes of pinned memory for scratch and private copies: fake "
                                 "failure (CUDA error 2)");
    }
    ASSERT_LT(call, 100u);
  }
}

/// The memory for private copies doubles when it grows. If too little device memory is left, the new size is only what
/// the call needs.
TEST(LoopbackErrors, AnAlmostFullGpu) {
  FakeCuda fake;
  Loopback loopback(reduceScatter(3, true));
  ASSERT_EQ(loopback.run(fake, {.count = 50, .op = core::ReduceOp::Avg}), "");
  const size_t pieces = fake.allocated(0)[0];
  fake.most = 2400; // the previous allocation has 1920 bytes
  testing::internal::CaptureStderr();
  EXPECT_EQ(loopback.run(fake, {.count = 55, .op = core::ReduceOp::Avg}), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(fake.allocated(0)[0], pieces + 1);
}

TEST(LoopbackErrors, Fp8BeforeHopper) {
  FakeCuda fake;
  fake.architecture = 89;
  Loopback reducing(ringAllReduce(2, true)), copying(allToAll(2, 1));
  expect(outcomeOf(fake, reducing, {.type = ElementType::Float8E4M3}), gc3InvalidArgument,
         "f8e4m3 cannot be reduced on a GPU of sm_89; sm_90 or later is required");
  EXPECT_EQ(copying.run(fake, {.count = 5, .type = ElementType::Float8E5M2}), "");
}

TEST(LoopbackErrors, NoCooperativeLaunch) {
  FakeCuda fake;
  fake.cooperative = 0;
  expect(Loopback(ringAllReduce(2, true)).made, gc3InvalidUsage,
         "this GPU does not support cooperative launches, which blocks need to wait for each other");
}

TEST(LoopbackErrors, Options) {
  FakeCuda fake;
  const ProgramSpec ring = ringAllReduce(2, true);
  expect(Loopback(ring, tuned({.threads = 100})).made, gc3InvalidArgument,
         "100 threads; a block has a multiple of 32, at most 512");
  expect(Loopback(ring, tuned({.threads = 544})).made, gc3InvalidArgument,
         "544 threads; a block has a multiple of 32, at most 512");
  expect(Loopback(ring, tuned({.slotBytes = 100})).made, gc3InvalidArgument,
         "FIFO slots of 100 bytes; they have at least 128");
  Loopback few(ring, tuned({.slots = 1, .slotBytes = 128, .threads = 32}));
  EXPECT_EQ(outcomeOf(fake, few, {}).code, gc3InvalidArgument);
  Loopback large(ring, tuned({.slotBytes = UINT64_MAX}));
  expect(outcomeOf(fake, large, {}), gc3InvalidArgument,
         "program 'ring2_aliased_1' needs more than 1 TiB for the FIFO slots of 2 connections");
}

TEST(LoopbackErrors, InvalidCalls) {
  FakeCuda fake;
  Loopback loopback(ringAllReduce(3, true));
  const Trial trial = loopback.trial({.count = 4});
  Loopback::Buffers buffers(fake, trial);
  std::vector<core::Request> &requests = buffers.requests;
  auto call = [&] { return loopback.world->call(requests, nullptr); };
  expect(loopback.world->call(std::span(requests).first(2), nullptr), gc3InvalidUsage,
         "a call of 2 of 3 ranks; ranks that share a GPU must call in one group");
  requests[2].count = 5;
  EXPECT_EQ(call().code, gc3InvalidUsage);
  requests[2].count = 4;
  requests[1].send = nullptr;
  expect(call(), gc3InvalidArgument, "rank 1: the send buffer is null");
  requests[1].send = static_cast<std::byte *>(requests[1].recv) + 4;
  expect(call(), gc3InvalidArgument, "rank 1: send and receive buffers overlap, but not as in a call in place");
  for (core::Request &request : requests)
    request.name = "other";
  EXPECT_EQ(call().code, gc3NoProgram);
  for (core::Request &request : requests)
    request.name = loopback.name, request.count = UINT64_MAX;
  EXPECT_EQ(call().code, gc3InvalidArgument);
  EXPECT_EQ(fake.launches, 0u);
}

TEST(LoopbackErrors, NoAverage) {
  FakeCuda fake;
  Loopback loopback(shiftReversed(3, 2));
  EXPECT_EQ(outcomeOf(fake, loopback, {.op = ReduceOp::Avg}).code, gc3InvalidArgument);
}

TEST(LoopbackErrors, CaptureNeedsAnEarlierCall) {
  FakeCuda fake;
  Loopback loopback(plainRingAllReduce(3));
  fake.captured = true;
  expect(outcomeOf(fake, loopback, {.count = 4}), gc3InvalidUsage,
         "program '" + loopback.name +
             "' cannot be loaded while the stream is captured; make one such call before the capture");
  fake.captured = false;
  ASSERT_TRUE(outcomeOf(fake, loopback, {.count = 4}).ok());
  fake.captured = true;
  EXPECT_TRUE(outcomeOf(fake, loopback, {.count = 4000, .inPlace = true}).ok()) << "memory is available";
  EXPECT_TRUE(outcomeOf(fake, loopback, {.count = 4}).ok());
}

/// If OnDevice can't restore the device of the thread, it logs the error once. It returns no error, because the call is
/// already complete.
TEST(LoopbackErrors, AThreadThatStaysOnAnotherDevice) {
  FakeCuda fake;
  fake.currentDevice = 5;
  const auto comeAndGo = [&] { const cuda::OnDevice device(FakeCuda::table(), 7); };
  comeAndGo();
  EXPECT_EQ(fake.currentDevice, 5);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    fake.currentDevice = 5;
    fake.failAt = fake.calls + 3;
    comeAndGo();
    EXPECT_EQ(fake.currentDevice, 7);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gc3: restoring device 5: fake failure (CUDA error 2)\n");
}

TEST(LoopbackErrors, AStuckKernelIsStoppedAndExplained) {
  FakeCuda fake;
  {
    cuda::Options options = smallOptions();
    options.timeoutMs = 100;
    Loopback loopback({deadlock(), ringAllReduce(2, true)}, options);
    EXPECT_EQ(loopback.run(fake, {}, 0, 1), "") << "by the other program, which the report must not name";
    EXPECT_TRUE(outcomeOf(fake, loopback, {}).ok());
    cuda::Watchdog::Clock::time_point start{};
    auto at = [&](int ms) { return loopback.world->watch(start + std::chrono::milliseconds(ms)); };
    EXPECT_TRUE(at(0).ok());
    EXPECT_TRUE(at(99).ok());
    expect(at(100), gc3Timeout, "a kernel has not ended in 100 ms and is being stopped");
    const std::string story =
        "a kernel has not ended in 100 ms and was stopped; program 'deadlock':\n"
        "  rank 0 thread block 0 step 0 (recv, tile 0) waits for a message from rank 1 on channel 0\n"
        "  rank 1 thread block 0 step 0 (recv, tile 0) waits for a message from rank 0 on channel 0";
    expect(at(101), gc3Timeout, story);
    fake.failAt = fake.calls + 1;
    expect(at(102), gc3Timeout, story);
    fake.failAt = 0;
    expect(outcomeOf(fake, loopback, {}), gc3Timeout, story);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(LoopbackErrors, AStuckKernelEndsWithItsWorld) {
  FakeCuda fake;
  {
    cuda::Options options = smallOptions();
    options.timeoutMs = 20;
    Loopback loopback(deadlock(), options);
    EXPECT_TRUE(outcomeOf(fake, loopback, {}).ok());
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(LoopbackErrors, CallsThatEndAreNotStopped) {
  FakeCuda fake;
  cuda::Options options = smallOptions();
  options.timeoutMs = 1;
  Loopback loopback(ringAllReduce(2, true), options);
  for (int ms = 0; ms < 10; ++ms) {
    EXPECT_EQ(loopback.run(fake, {}), "");
    EXPECT_TRUE(loopback.world->watch(cuda::Watchdog::Clock::time_point{} + std::chrono::milliseconds(ms)).ok());
  }
}

} // namespace
