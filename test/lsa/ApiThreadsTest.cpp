// SPDX-License-Identifier: Apache-2.0
// Communicators of the C API that one thread aborts while another one is in a call on them. For the thread sanitizer
// above all.
#include "LsaSupport.h"
#include "OneNcclAtATime.h"
#include "api/Lsa.h"
#include "lsa/Aside.h"

#include <atomic>
#include <thread>

using namespace gc3;
using namespace gc3::test;

namespace {

constexpr size_t count = 10;

class LsaApiThreads : public testing::Test {
protected:
  void make(uint32_t timeoutMs = 0, lsa::Aside aside = lsa::atOnce) {
    const std::vector<ProgramSpec> specs{ringAllReduce(2, true)};
    cuda::Options options = smallOptions();
    options.timeoutMs = timeoutMs;
    std::vector<api::Lsa::Init> inits;
    for (ncclapi::Comm comm : windows.make(2))
      inits.push_back({&comms[inits.size()], applicant(comm, {open(specs)}, options)});
    const core::Outcome outcome = api::Lsa::make({cuda, nccl, nullptr, aside}, inits);
    ASSERT_TRUE(outcome.ok()) << outcome.text;
    stream = fake.stream(0);
    buffer = reinterpret_cast<float *>(fake.allocate(count * sizeof(float)));
  }
  void TearDown() override {
    gc3CommAbort(comms[1]);
    FakeCuda::table().destroyStream(stream);
    fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(windows.leaks(), leaks);
  }
  gc3Result_t allReduce(size_t rank) {
    return gc3AllReduce(buffer, buffer, count, gc3Float32, gc3Sum, comms[rank], stream);
  }

  void reduceByBoth() {
    const cuda::Stream other = fake.stream(1);
    gc3GroupStart();
    EXPECT_EQ(allReduce(0), gc3Success);
    EXPECT_EQ(gc3AllReduce(buffer, buffer, count, gc3Float32, gc3Sum, comms[1], other), gc3Success);
    EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    FakeCuda::table().destroyStream(other);
  }

  /// A call of rank 0, which waits for the other one to load the program: what it says, once the rank is aborted.
  std::string textOfAborted(bool inGroup) {
    std::atomic<bool> waits{false};
    fake.whileAsked = [&] { waits = true; };
    std::string text;
    std::thread caller([&] {
      if (inGroup)
        gc3GroupStart();
      gc3Result_t result = allReduce(0);
      if (inGroup)
        result = gc3GroupEnd();
      EXPECT_EQ(result, gc3InvalidUsage);
      text = gc3GetLastError(nullptr);
    });
    while (!waits)
      std::this_thread::yield();
    EXPECT_EQ(gc3CommAbort(comms[0]), gc3Success);
    caller.join();
    fake.whileAsked = nullptr;
    return text;
  }

  FakeCuda fake;
  FakeWindows windows{fake};
  cuda::Cuda cuda = OneAtATime::cuda();
  ncclapi::Nccl nccl = oneNcclAtATime(windows);
  std::array<gc3Comm_t, 2> comms{};
  cuda::Stream stream = nullptr;
  float *buffer = nullptr;
  std::string leaks = "3 pieces of memory 2 pieces of pinned memory 1 streams 1 pieces of symmetric memory ";
};

TEST_F(LsaApiThreads, AbortEndsACallOfAnother) {
  make();
  EXPECT_EQ(textOfAborted(false), "the communicator was aborted");
}

TEST_F(LsaApiThreads, AbortEndsAGroupOfAnother) {
  make();
  EXPECT_EQ(textOfAborted(true), "the communicator was aborted");
}

/// Of all ranks that one thread has made, in whose name it may ask: another one's may be destroyed meanwhile.
TEST_F(LsaApiThreads, WhoAsksGivesNothingBack) {
  static std::atomic<std::thread::id> withdrawnBy;
  static const auto withdraw = nccl.CommWindowDeregister;
  nccl.CommWindowDeregister = [](ncclapi::Comm comm, ncclapi::Window window) {
    withdrawnBy = std::this_thread::get_id();
    return withdraw(comm, window);
  };
  make();
  reduceByBoth();
  std::thread destroying;
  std::atomic<bool> asks{false}, isDestroyed{false};
  fake.whileAsked = [&] {
    if (!asks.exchange(false))
      return;
    destroying = std::thread([&] {
      EXPECT_EQ(gc3CommDestroy(comms[0]), gc3Success);
      isDestroyed = true;
    });
    for (int times = 0; times < 1000 && !isDestroyed; ++times) // it waits for this question, or does not
      std::this_thread::yield();
  };
  asks = true;
  gc3Result_t state = gc3InternalError;
  EXPECT_EQ(gc3CommGetAsyncError(comms[1], &state), gc3Success);
  EXPECT_EQ(state, gc3Success);
  const std::thread::id destroyer = destroying.get_id();
  destroying.join();
  fake.whileAsked = nullptr;
  EXPECT_EQ(withdrawnBy.load(), destroyer);
  leaks = "3 pieces of memory 1 pieces of pinned memory 1 pieces of symmetric memory 1 windows "; // of who is aborted
}

/// Who looks after kernels may wait in CUDA for NCCL's, which end when the application comes to abort those.
TEST_F(LsaApiThreads, AnAbortDoesNotWaitForCuda) {
  static std::vector<std::function<void()>> later;
  make(80, [](const std::function<void()> &work) { later.push_back(work); });
  std::atomic<bool> waits{false}, isAborted{false};
  fake.whileAsked = [&] {
    for (waits = true; !isAborted;)
      std::this_thread::yield();
  };
  while (!waits)
    std::this_thread::yield();
  EXPECT_EQ(gc3CommAbort(comms[0]), gc3Success);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[1], nullptr)), gc3Success);
  isAborted = true;
  for (const auto &work : later)
    work();
  leaks = "2 pieces of memory 2 pieces of pinned memory "; // of who is aborted
}

/// A new thread's GPU would be the first.
TEST_F(LsaApiThreads, WhatAnAbortLeavesTakesNoOtherGpu) {
  static thread_local bool hasDevice = false;
  static std::atomic<int> withDevice, without;
  withDevice = without = 0;
  static const cuda::Cuda all = cuda; // a table's functions have no state
  cuda.setDevice = [](int device) {
    hasDevice = true;
    return all.setDevice(device);
  };
  cuda.destroyEvent = [](cuda::Event event) {
    ++(hasDevice ? withDevice : without);
    return all.destroyEvent(event);
  };
  make(0, lsa::inThread);
  for (gc3Comm_t &comm : comms)
    gc3CommAbort(std::exchange(comm, nullptr));
  lsa::awaitThreads();
  EXPECT_GT(withDevice, 0);
  EXPECT_EQ(without, 0);
  leaks = "2 pieces of memory 2 pieces of pinned memory ";
}

/// Though nobody asks about it.
TEST_F(LsaApiThreads, AKernelThatHangsIsStopped) {
  make(2000);
  reduceByBoth();
  EXPECT_EQ(allReduce(0), gc3Success);
  const auto isIdle = [this] {
    const OneAtATime now;
    return fake.isIdle(stream);
  };
  while (!isIdle())
    std::this_thread::yield();
  gc3Result_t result = gc3Success;
  EXPECT_EQ(gc3CommGetAsyncError(comms[0], &result), gc3Success);
  EXPECT_EQ(result, gc3Timeout);
  gc3CommAbort(comms[0]);
  gc3CommAbort(std::exchange(comms[1], nullptr));
  leaks = "6 pieces of memory 4 pieces of pinned memory 2 pieces of symmetric memory 2 windows "; // as documented
}

} // namespace
