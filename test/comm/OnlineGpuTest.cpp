// SPDX-License-Identifier: Apache-2.0
// Tests online selection on communicators with a GPU for each rank: choices change, all ranks choose alike, and every
// call gives the right data.
#include "ApiSupport.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;

namespace {

constexpr size_t rankCount = 3;

/// Returns AllReduce programs for Simple, LL and LL128. The first one serves all calls without online selection.
std::vector<ProgramSpec> allReduces() {
  std::vector<ProgramSpec> specs{ringAllReduce(rankCount, true), under(Protocol::LL, ringAllReduce(rankCount, true)),
                                 under(Protocol::LL128, plainRingAllReduce(rankCount))};
  specs[0].name = "simple", specs[1].name = "ll", specs[2].name = "ll128";
  return specs;
}

class OnlineGpu : public ApiTest {
protected:
  OnlineGpu() {
    const Monitor::Lock lock;
    fake.duration = [this](const cuda::Launch &launch) {
      const Protocol protocol = protocolOf(launch);
      chosen[launch.stream].push_back(protocol);
      return microseconds[protocol];
    };
  }

  static gc3GpuConfig_t online(gc3Tune_t tune = gc3TuneOnline, float budget = 0) {
    gc3GpuConfig_t config = smallConfig();
    config.tune = tune;
    config.tuneBudget = budget;
    return config;
  }
  static Protocol protocolOf(const cuda::Launch &launch) {
    for (const Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128})
      for (const core::ElementType type : {core::ElementType::Float, core::ElementType::Int32})
        if (launch.kernel == FakeCuda::table().interpreter(type, protocol))
          return protocol;
    ADD_FAILURE() << "unknown kernel";
    return Protocol::Simple;
  }
  void setTimes(double simple, double ll, double ll128) {
    const Monitor::Lock lock;
    microseconds = {{Protocol::Simple, simple}, {Protocol::LL, ll}, {Protocol::LL128, ll128}};
  }

  /// Makes calls on all ranks, in one group each, and checks their data.
  void callAll(int calls) {
    for (int call = 0; call < calls; ++call) {
      fill();
      ASSERT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
      for (size_t rank = 0; rank < rankCount; ++rank)
        ASSERT_TRUE(isIdle(rank));
      expectAll(6);
    }
  }
  std::string selected(gc3DataType_t type = gc3Float32) const {
    std::string first;
    for (gc3Comm_t comm : comms) {
      const char *name = "";
      EXPECT_EQ(gc3SelectProgram(comm, "allreduce", count, type, -1, &name), gc3Success);
      EXPECT_TRUE(first.empty() || first == name) << first << " and " << name;
      first = name;
    }
    return first;
  }
  gc3TuneCounters_t counters() const {
    gc3TuneCounters_t made = {sizeof made, 0, 0, 0, 0, 0};
    EXPECT_EQ(gc3CommGetTuneCounters(comms[0], &made), gc3Success);
    return made;
  }
  /// Checks that all ranks have run the same programs in the same order. Returns the programs.
  std::vector<Protocol> choices() {
    const Monitor::Lock lock;
    std::vector<Protocol> first = chosen[streams[0]];
    for (const cuda::Stream stream : streams)
      EXPECT_EQ(chosen[stream], first);
    return first;
  }

  std::map<Protocol, double> microseconds;
  std::map<cuda::Stream, std::vector<Protocol>> chosen; ///< guarded by the monitor
};

TEST_F(OnlineGpu, FollowsTheTimes) {
  setTimes(100, 20, 60);
  make(allReduces(), online());
  EXPECT_EQ(selected(), "simple");
  callAll(240);
  EXPECT_EQ(selected(), "ll");
  setTimes(100, 300, 60); // the link of the chosen program degrades
  callAll(360);
  EXPECT_EQ(selected(), "ll128");
  EXPECT_EQ(choices().size(), 600U);
  const gc3TuneCounters_t now = counters();
  EXPECT_GE(now.calls, 600U);
  EXPECT_GE(now.changes, 2U);
}

/// Ranks make their calls on threads of their own, and can be many calls ahead of others.
TEST_F(OnlineGpu, RanksOnThreads) {
  setTimes(100, 60, 20);
  load(allReduces());
  prepare(rankCount);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < rankCount; ++rank)
    threads.emplace_back([&, rank] {
      const gc3GpuConfig_t config = online();
      EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
      std::fill_n(buffers[rank], count, 0.0F);
      for (int call = 0; call < 200; ++call)
        EXPECT_EQ(allReduce(rank), gc3Success);
      awaitThat([&] { return isIdle(rank); });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(choices().size(), 200U);
}

TEST_F(OnlineGpu, SameBits) {
  setTimes(100, 20, 60);
  make(allReduces(), online(gc3TuneOnlineSameBits));
  callAll(240);
  EXPECT_EQ(selected(), "simple");
  EXPECT_EQ(choices(), std::vector<Protocol>(240, Protocol::Simple));
  EXPECT_EQ(counters().calls, 0U);
  for (int call = 0; call < 200; ++call) { // integers have no rounding
    gc3GroupStart();
    for (size_t rank = 0; rank < rankCount; ++rank)
      EXPECT_EQ(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Int32, gc3Max, comms[rank], streams[rank]),
                gc3Success);
    ASSERT_EQ(gc3GroupEnd(), gc3Success);
  }
  EXPECT_GE(counters().calls, 200U);
}

/// If the user of one rank has chosen the threads, no rank has the shape with fewer threads. So all have the same arms.
TEST_F(OnlineGpu, ShapesDependOnTheThreadsOfAllRanks) {
  fake.threadsPerMultiprocessor = 64;
  load({ringAllReduce(rankCount, true)});
  for (const uint32_t chosen : {0, 64}) {
    prepare(rankCount);
    gc3GroupStart();
    for (size_t rank = 0; rank < rankCount; ++rank) {
      gc3GpuConfig_t config = online(gc3TuneOnlineSameBitsShapes);
      config.threads = rank == 1 ? chosen : 0;
      EXPECT_EQ(gc3CommInit(&comms[rank], bundle, ncclComms[rank], &config), gc3Success);
    }
    ASSERT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    callAll(20);
    EXPECT_EQ(counters().calls > 0, chosen == 0);
    for (gc3Comm_t &comm : comms)
      EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
  }
  comms.clear();
}

TEST_F(OnlineGpu, FrozenChoices) {
  setTimes(100, 20, 60);
  make(allReduces(), online(gc3TuneOnline, -1));
  callAll(60);
  EXPECT_GE(counters().calls, 60U);
  EXPECT_EQ(selected(), "simple");
  EXPECT_EQ(choices(), std::vector<Protocol>(60, Protocol::Simple));
}

/// A captured call keeps the choice of its capture, and is not measured.
TEST_F(OnlineGpu, CapturedCalls) {
  setTimes(100, 20, 60);
  make(allReduces(), online());
  callAll(240);
  const uint64_t calls = counters().calls;
  fake.captured = true;
  ASSERT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  fake.captured = false;
  setTimes(10, 200, 200);
  for (int replay = 0; replay < 3; ++replay) {
    fill();
    fake.replay();
    for (size_t rank = 0; rank < rankCount; ++rank)
      ASSERT_TRUE(isIdle(rank));
    expectAll(6);
  }
  EXPECT_EQ(counters().calls, calls);
  std::vector<Protocol> last = choices();
  last.erase(last.begin(), last.end() - 3);
  EXPECT_EQ(last, std::vector<Protocol>(3, Protocol::LL));
}

/// The second communicator begins with what the first one has learned. If it is frozen, it only reads the file.
TEST_F(OnlineGpu, LearnedTimes) {
  const std::string path = testing::TempDir() + "gc3-online-gpu-" + std::to_string(getpid());
  gc3GpuConfig_t config = online();
  config.tuneFile = path.c_str();
  setTimes(100, 20, 60);
  make(allReduces(), config);
  callAll(240);
  for (gc3Comm_t &comm : comms)
    EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
  awaitThat([&] { return std::filesystem::exists(path); });
  for (const float budget : {0.0F, -1.0F}) {
    config.tuneBudget = budget;
    prepare(rankCount);
    ASSERT_EQ(init(config), gc3Success);
    EXPECT_EQ(selected(), "ll");
    choices();
    chosen.clear();
    callAll(1);
    EXPECT_EQ(choices(), std::vector<Protocol>{Protocol::LL});
    EXPECT_EQ(gc3CommSaveTuneFile(comms[1], nullptr), gc3Success) << gc3GetLastError(nullptr);
    for (gc3Comm_t &comm : comms)
      EXPECT_EQ(gc3CommDestroy(std::exchange(comm, nullptr)), gc3Success);
  }
  comms.clear();
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".lock");
}

/// The application's tuner gets the times of its choices: those of captured calls are not measured.
TEST_F(OnlineGpu, TheTunerGetsTimes) {
  static std::mutex mutex;
  static std::vector<std::string> reported;
  gc3GpuConfig_t config = smallConfig();
  config.tuner = [](const gc3TunerCall_t *, void *) { return 2; };
  config.tunerTimes = [](const gc3TunerTime_t *time, void *) {
    const std::lock_guard lock(mutex);
    reported.push_back("rank " + std::to_string(time->rank) + ": " + time->program + " " +
                       std::to_string(std::lround(time->microseconds)));
  };
  setTimes(100, 20, 60);
  make(allReduces(), config);
  callAll(2);
  fake.captured = true;
  ASSERT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  fake.captured = false;
  for (gc3Comm_t comm : std::exchange(comms, {}))
    EXPECT_EQ(gc3CommDestroy(comm), gc3Success);
  awaitThat([this] { return nccl.children().empty(); });
  std::sort(reported.begin(), reported.end());
  EXPECT_EQ(reported, (std::vector<std::string>{"rank 0: ll128 60", "rank 0: ll128 60", "rank 1: ll128 60",
                                                "rank 1: ll128 60", "rank 2: ll128 60", "rank 2: ll128 60"}));
}

} // namespace
