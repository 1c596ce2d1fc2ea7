// SPDX-License-Identifier: Apache-2.0
// Times of calls: which calls count, and how events of several threads and launches mix.
#include "tuner/Recorder.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace gc3::tuner;
using Description = gc3::tuner::abi::CollDescription;

namespace {

Description reduceAll(size_t count, uint8_t channels = 1) {
  return {0, "AllReduce", nullptr, nullptr, count, 0, "ncclFloat16", channels, 1, "RING", "LL128"};
}

/// Reports the work of one channel.
void runKernel(const Event *event, uint64_t start, uint64_t stop) {
  event->recorder->beginKernel(*event->call, start);
  event->recorder->endKernel(*event->call, stop);
}

/// Reports a call that is alone in its launch.
void runCall(Recorder &recorder, const Description &call, uint64_t nanoseconds) {
  recorder.beginGroup();
  const Event *event = recorder.beginCall(call);
  recorder.endGroup();
  ASSERT_NE(event, nullptr);
  runKernel(event, 5000, 5000 + nanoseconds);
}

/// Returns the rows of a table as text, without its first two lines.
std::string rowsOf(const Recorder &recorder) {
  const std::string text = printTable(recorder.rows());
  return text.substr(text.find('\n', text.find('#')) + 1);
}

} // namespace

TEST(Recorder, TakesMedians) {
  Recorder recorder({}, 4, 1);
  for (const uint64_t time : {3000, 90000, 1000, 2000, 2500})
    runCall(recorder, reduceAll(512), time);
  runCall(recorder, reduceAll(1023), 2600);
  runCall(recorder, reduceAll(1024), 7);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 2.6\nallreduce 4 1 11 ring ll128 - 0.007\n");
}

TEST(Recorder, ForgetsOldTimes) {
  Recorder recorder({}, 4, 1);
  for (int i = 0; i < 1024; ++i)
    runCall(recorder, reduceAll(512), 9000);
  for (int i = 0; i < 513; ++i)
    runCall(recorder, reduceAll(512), 1000);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 1\n");
}

TEST(Recorder, MeasuresFromTheFirstChannelToTheLast) {
  Recorder recorder({}, 4, 1);
  recorder.beginGroup();
  const Event *event = recorder.beginCall(reduceAll(512, 3));
  runKernel(event, 2000, 4000); // before the launch ends
  recorder.endGroup();
  runKernel(event, 1000, 1500);
  EXPECT_EQ(rowsOf(recorder), "");
  runKernel(event, 3000, 5000);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 4\n");
}

TEST(Recorder, CountsOnlyCallsThatAreAloneInTheirLaunch) {
  Recorder recorder({}, 4, 1);
  recorder.beginGroup();
  const Event *first = recorder.beginCall(reduceAll(512)), *second = recorder.beginCall(reduceAll(512));
  runKernel(first, 1, 1000);
  recorder.endGroup();
  runKernel(second, 1, 1000);
  recorder.beginGroup();
  const Event *third = recorder.beginCall(reduceAll(512));
  recorder.beginMessage();
  recorder.endGroup();
  runKernel(third, 1, 1000);
  recorder.beginGroup();
  Description symmetric = reduceAll(512);
  symmetric.algorithm = "Unknown";
  EXPECT_EQ(recorder.beginCall(symmetric), nullptr);
  const Event *fourth = recorder.beginCall(reduceAll(512));
  recorder.endGroup();
  runKernel(fourth, 1, 1000);
  EXPECT_EQ(rowsOf(recorder), "");
  runCall(recorder, reduceAll(512), 2000);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 2\n");
}

TEST(Recorder, LaunchesCanEndInAnyOrder) {
  Recorder recorder({}, 4, 1);
  const Event *events[3];
  for (const Event *&event : events) {
    recorder.beginGroup();
    event = recorder.beginCall(reduceAll(512));
    recorder.endGroup();
  }
  for (const int i : {2, 0, 1})
    runKernel(events[i], 100, 100 + 1000 * static_cast<uint64_t>(i + 1));
  runCall(recorder, reduceAll(512), 0); // a clock that has not advanced gives no time
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 2\n");
}

TEST(Recorder, CountsBytesAsTheTunerDoes) {
  Recorder recorder({}, 16, 2);
  Description call{0, "AllGather", nullptr, nullptr, 64, 0, "ncclFloat64", 1, 1, "NVLS_TREE", "SIMPLE"};
  runCall(recorder, call, 1000);
  call.collective = "ReduceScatter", call.datatype = "ncclInt8", call.algorithm = "PAT";
  runCall(recorder, call, 1000);
  call.collective = "Broadcast", call.algorithm = "COLLNET_CHAIN";
  runCall(recorder, call, 1000);
  EXPECT_EQ(rowsOf(recorder), "broadcast 16 2 6 collnet-chain simple - 1\nallgather 16 2 13 nvls-tree simple - 1\n"
                              "reduce_scatter 16 2 10 pat simple - 1\n");
}

TEST(Recorder, LeavesOutCallsWithoutARow) {
  Recorder recorder({}, 4, 1);
  recorder.beginGroup();
  for (const char *wrong : {static_cast<const char *>(nullptr), "AlltoAll", ""}) {
    Description call = reduceAll(512);
    call.collective = wrong;
    EXPECT_EQ(recorder.beginCall(call), nullptr);
    call = reduceAll(512), call.datatype = wrong;
    EXPECT_EQ(recorder.beginCall(call), nullptr);
    call = reduceAll(512), call.protocol = wrong;
    EXPECT_EQ(recorder.beginCall(call), nullptr);
  }
  EXPECT_EQ(recorder.beginCall(reduceAll(512, 0)), nullptr); // NCCL does not state the channels of CollNet
  recorder.endGroup();
  EXPECT_EQ(rowsOf(recorder), "");
}

TEST(Recorder, TakesTheChannelsOfTheArmThatTheTunerChose) {
  std::vector<Row> rows;
  ASSERT_EQ(parseTable("gc3-nccl-table 1\nallreduce 4 1 10 ring ll128 8 9\nallreduce 4 1 10 ring ll128 2 3\n"
                       "allreduce 4 1 11 tree ll128 2 3\n",
                       rows),
            "");
  Recorder recorder(Choices(rows, 4, 1), 4, 1);
  runCall(recorder, reduceAll(512), 1000);
  runCall(recorder, reduceAll(1024), 1000);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 2 1\nallreduce 4 1 11 ring ll128 - 1\n");
}

/// An aborted communicator reports no ends. The memory for calls that have not ended is limited.
TEST(Recorder, LimitsCallsThatDoNotEnd) {
  Recorder recorder({}, 4, 1);
  recorder.beginGroup();
  const Event *first = recorder.beginCall(reduceAll(512));
  for (int i = 1; i < 1 << 16; ++i)
    EXPECT_NE(recorder.beginCall(reduceAll(512)), nullptr);
  EXPECT_EQ(recorder.beginCall(reduceAll(512)), nullptr);
  recorder.endGroup();
  runKernel(first, 1, 1000);
  runCall(recorder, reduceAll(512), 2000);
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 2\n");
}

/// Launches come from one thread, and kernels end on another.
TEST(Recorder, CanBeUsedByThreads) {
  Recorder recorder({}, 4, 1);
  constexpr size_t count = 20'000;
  std::vector<std::atomic<const Event *>> events(count);
  std::thread proxy([&] {
    for (std::atomic<const Event *> &event : events) {
      event.wait(nullptr);
      runKernel(event, 1000, 3000);
    }
  });
  for (std::atomic<const Event *> &event : events) {
    recorder.beginGroup();
    event = recorder.beginCall(reduceAll(512));
    event.notify_one();
    recorder.endGroup();
  }
  proxy.join();
  EXPECT_EQ(rowsOf(recorder), "allreduce 4 1 10 ring ll128 - 2\n");
}
