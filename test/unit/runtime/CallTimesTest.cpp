// SPDX-License-Identifier: Apache-2.0
// Tests how kernels and events measure calls. The test writes the times of kernels itself.
#include "cuda/CallTimes.h"
#include "FakeCuda.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;
using cuda::CallTimes;

namespace {

class CallTimesTest : public testing::Test {
protected:
  static constexpr uint32_t most = 4;

  CallTimesTest() {
    EXPECT_TRUE(times.prepare(most).ok());
    EXPECT_TRUE(times.prepareKernels().ok());
  }

  /// Returns the time of a call, in microseconds; -1 if it has not ended.
  float timeOf(uint64_t call, bool byEvents) {
    const std::optional<CallTimes::Time> time = times.find(call);
    if (!time)
      return -1;
    EXPECT_EQ(time->byEvents, byEvents);
    return time->microseconds;
  }
  float timeOfKernel(uint64_t call) { return timeOf(call, false); }
  bool hasNoTime(uint64_t call) { return std::isnan(timeOf(call, false)); }

  FakeCuda fake;
  CallTimes times{FakeCuda::table()};
};

TEST_F(CallTimesTest, AKernelLastsFromItsFirstBeginToItsLastEnd) {
  kernel::BlockTimes *blocks = times.beginKernel(0, 3);
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(timeOfKernel(0), -1);
  blocks[0] = {5000, 9000}, blocks[2] = {4000, 8000}, blocks[1].begin = 6000;
  EXPECT_EQ(timeOfKernel(0), -1) << "block 1 has not ended";
  blocks[1].end = 7000;
  EXPECT_EQ(timeOfKernel(0), 5);
  blocks[0].end = 9000 + 1;
  EXPECT_FLOAT_EQ(timeOfKernel(0), 5.001F);
}

TEST_F(CallTimesTest, ATimeIsNeverZero) {
  *times.beginKernel(0, 1) = {7, 7};
  *times.beginKernel(1, 1) = {7, 6}; // the clock went back
  EXPECT_EQ(timeOfKernel(0), 0.5F);
  EXPECT_EQ(timeOfKernel(1), 0.5F);
}

TEST_F(CallTimesTest, EventsMeasureWorkOnAStream) {
  const cuda::Stream stream = fake.stream(0);
  times.begin(1, stream);
  times.end(1, stream);
  EXPECT_TRUE(fake.isIdle(stream));
  EXPECT_EQ(timeOf(1, true), 0.5F) << "there is no work";
  FakeCuda::table().destroyStream(stream);
}

/// A call is forgotten before its kernel has ended. Its memory gets no other call until then.
TEST_F(CallTimesTest, KeepsTheMemoryOfRunningKernels) {
  kernel::BlockTimes *running = times.beginKernel(1, 2);
  running[0] = {1000, 2000};
  times.forget(2);
  EXPECT_EQ(times.beginKernel(1 + most, 1), nullptr);
  EXPECT_TRUE(hasNoTime(1 + most));
  running[1] = {1000, 3000};
  kernel::BlockTimes *next = times.beginKernel(1 + 2 * most, 2);
  EXPECT_EQ(next, running);
  for (uint32_t block = 0; block < 2; ++block) {
    EXPECT_EQ(next[block].begin, 0U);
    EXPECT_EQ(next[block].end, 0U);
  }
  EXPECT_EQ(timeOfKernel(1 + 2 * most), -1);
}

/// A call keeps its memory until it is forgotten, also when its kernel has ended.
TEST_F(CallTimesTest, KeepsTimesThatAreNotRead) {
  *times.beginKernel(0, 1) = {1000, 2000};
  EXPECT_EQ(times.beginKernel(most, 1), nullptr);
  EXPECT_EQ(timeOfKernel(0), 1);
  times.forget(1);
  EXPECT_NE(times.beginKernel(most, 1), nullptr);
  EXPECT_TRUE(hasNoTime(0));
}

TEST_F(CallTimesTest, LargeKernels) {
  EXPECT_NE(times.beginKernel(0, CallTimes::mostBlocks), nullptr);
  EXPECT_EQ(times.beginKernel(1, CallTimes::mostBlocks + 1), nullptr);
}

/// The kernel of a dropped call may run. Its memory gets no other call until then.
TEST_F(CallTimesTest, DroppedCalls) {
  kernel::BlockTimes *dropped = times.beginKernel(0, 1);
  times.drop(0);
  EXPECT_TRUE(hasNoTime(0));
  times.forget(1);
  EXPECT_EQ(times.beginKernel(most, 1), nullptr);
  *dropped = {1000, 2000};
  EXPECT_TRUE(hasNoTime(0));
  EXPECT_NE(times.beginKernel(2 * most, 1), nullptr);
}

TEST_F(CallTimesTest, WithoutMemoryKernelsMeasureNothing) {
  fake.failFunction = {"CUDA allocatePinned", -1};
  CallTimes without(FakeCuda::table());
  EXPECT_TRUE(without.prepare(most).ok());
  EXPECT_FALSE(without.prepareKernels().ok());
  EXPECT_EQ(without.beginKernel(0, 1), nullptr);
  EXPECT_TRUE(std::isnan(without.find(0)->microseconds));
}

TEST_F(CallTimesTest, WithoutEventsNoCallHasATime) {
  fake.failFunction = {"CUDA createTimedEvent", -1};
  CallTimes without(FakeCuda::table());
  EXPECT_FALSE(without.prepare(most).ok());
  without.begin(0, nullptr);
  without.end(0, nullptr);
  EXPECT_TRUE(std::isnan(without.find(0)->microseconds));
}

} // namespace
