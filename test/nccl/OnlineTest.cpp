// SPDX-License-Identifier: Apache-2.0
// Tests online selection in the interposer: it chooses between a program and NCCL, and every call gives the right data.
// A program of its own, because a process reads GC3_TUNE once.
#include "Front.h"

#include <algorithm>
#include <atomic>

using namespace gc3::test;

namespace {

[[maybe_unused]] const int isOnline = setenv("GC3_TUNE", "online", 1);

class OnlineFront : public Front {
protected:
  /// Counts of elements. By its `sizes`, the program runs calls of `small`, and NCCL those of `large`.
  static constexpr size_t small = 100, large = 300;

  OnlineFront() {
    for (size_t rank = 0; rank < 2; ++rank)
      for (auto *buffers : {&inputs, &outputs})
        buffers->push_back(reinterpret_cast<float *>(cuda.allocate(large * sizeof(float))));
    cuda.duration = [this](const gc3::cuda::Launch &launch) {
      EXPECT_EQ(cuda.callOn.at(launch.stream).times, nullptr) << "events measure programs that compete with NCCL";
      return ofProgram;
    };
    after([this](const std::string &event) {
      for (size_t rank = 0; rank < 2; ++rank)
        if (event.starts_with("AllReduce(") && event.ends_with("stream" + std::to_string(rank) + ")"))
          runAsNccl(rank);
    });
  }
  ~OnlineFront() override {
    for (const auto *buffers : {&inputs, &outputs})
      for (float *buffer : *buffers)
        cuda.release(reinterpret_cast<std::byte *>(buffer));
  }

  void setTimes(double program, double nccl) {
    const gc3::test::Monitor::Lock lock;
    ofProgram = program, ofNccl = nccl;
  }
  void runAsNccl(size_t rank) {
    const auto stream = reinterpret_cast<gc3::cuda::Stream>(streams[rank]);
    FakeCuda::currentDevice = static_cast<int>(rank);
    cuda.enqueue(stream, [this, rank, stream] {
      return [this, rank, stream] {
        cuda.spend(stream, ofNccl);
        for (size_t i = 0; i < large; ++i)
          outputs[rank][i] = inputs[0][i] + inputs[1][i];
        return true;
      };
    });
    FakeCuda::currentDevice = 0;
  }

  /// Makes calls on both ranks, each in a group, and checks their data. Returns how many of the last 20 NCCL has run.
  size_t callAll(const Comms &comms, size_t count, int calls) {
    size_t byNccl = 0;
    for (int call = 0; call < calls; ++call) {
      for (size_t i = 0; i < large; ++i)
        inputs[0][i] = static_cast<float>(call), inputs[1][i] = static_cast<float>(i),
        outputs[0][i] = outputs[1][i] = -1;
      const Result result = inGroup(2, [&](size_t rank) {
        return ncclAllReduce(inputs[rank], outputs[rank], count, DataType::Float32, RedOp::Sum, comms[rank],
                             streams[rank]);
      });
      EXPECT_EQ(result, Result::Success);
      EXPECT_TRUE(areIdle());
      for (size_t i = 0; i < count; ++i)
        for (const float *output : outputs)
          EXPECT_EQ(output[i], static_cast<float>(call) + static_cast<float>(i)) << "call " << call;
      const Events events = takeEvents();
      const bool isByNccl = std::any_of(events.begin(), events.end(),
                                        [](const std::string &each) { return each.starts_with("AllReduce("); });
      byNccl += call >= calls - 20 && isByNccl;
    }
    return byNccl;
  }

  /// Makes calls until NCCL runs nearly all of them, or nearly none. Returns false if that takes too many calls: times
  /// of calls count late on a busy machine.
  bool settles(const Comms &comms, size_t count, bool onNccl) {
    constexpr int attempts = 30, calls = 100;
    for (int attempt = 0; attempt < attempts; ++attempt)
      if (const size_t byNccl = callAll(comms, count, calls); onNccl ? byNccl >= 19 : byNccl <= 1)
        return true;
    return false;
  }

  std::vector<float *> inputs, outputs;
  double ofProgram = 10, ofNccl = 10; ///< microseconds, guarded by the monitor
};

TEST_F(OnlineFront, NcclReplacesASlowProgram) {
  setTimes(50, 10);
  const Comms comms = makeJoined();
  EXPECT_LE(callAll(comms, small, 20), 1U) << "before any time is known, the program runs";
  EXPECT_TRUE(settles(comms, small, true));
  setTimes(50, 200); // NCCL's links degrade
  EXPECT_TRUE(settles(comms, small, false));
}

TEST_F(OnlineFront, AProgramReplacesASlowNccl) {
  setTimes(10, 50);
  const Comms comms = makeJoined();
  EXPECT_EQ(callAll(comms, large, 20), 20U);
  EXPECT_TRUE(settles(comms, large, false));
}

/// Ranks on threads of their own make the same choices, or their calls would not match.
TEST_F(OnlineFront, RanksOnThreads) {
  setTimes(50, 10);
  const Comms comms = makeJoined();
  std::array<Events, 2> chosen;
  after([&](const std::string &event) {
    for (size_t rank = 0; rank < 2; ++rank)
      if (event == "run " + std::to_string(rank))
        chosen[rank].push_back("program");
      else if (event.starts_with("AllReduce(") && event.ends_with("stream" + std::to_string(rank) + ")"))
        chosen[rank].push_back("NCCL");
  });
  onEachRank(2, [&](size_t rank) {
    for (int call = 0; call < 200; ++call)
      EXPECT_EQ(allReduce(rank, comms[rank], few), Result::Success);
  });
  EXPECT_EQ(chosen[0].size(), 200U);
  EXPECT_EQ(chosen[0], chosen[1]);
  EXPECT_NE(std::find(chosen[0].begin(), chosen[0].end(), "NCCL"), chosen[0].end());
}

/// NCCL gets the consecutive calls of a group that it runs as one NCCL group.
TEST_F(OnlineFront, NcclGetsOneGroup) {
  setTimes(50, 10);
  const Comms comms = makeJoined();
  EXPECT_TRUE(settles(comms, large, true));
  ncclGroupStart();
  for (int call = 0; call < 4; ++call)
    for (size_t rank = 0; rank < 2; ++rank)
      ncclAllReduce(inputs[rank], outputs[rank], large, DataType::Float32, RedOp::Sum, comms[rank], streams[rank]);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  Events events = takeEvents();
  for (std::string &event : events)
    event.resize(event.find('('));
  Events wanted{"GroupStart", "GroupEnd", "GroupStart"}; // the application's group, then gc3's
  wanted.insert(wanted.end(), 8, "AllReduce");
  wanted.push_back("GroupEnd");
  EXPECT_EQ(events, wanted);
  EXPECT_TRUE(areIdle());
}

/// Rank 0 groups a call of NCCL and a call that can load a program. Rank 1 loads only after NCCL has rank 0's first
/// call.
TEST_F(OnlineFront, NcclsCallsDoNotWaitForALaterLoad) {
  const Comms comms = makeJoined();
  std::atomic<bool> hasBegun = false;
  after([&](const std::string &event) {
    if (event.starts_with("AllReduce(") && event.ends_with("stream0)"))
      hasBegun = true;
  });
  onEachRank(2, [&](size_t rank) {
    if (rank == 0)
      ncclGroupStart();
    EXPECT_EQ(
        ncclAllReduce(inputs[rank], outputs[rank], large, DataType::Float32, RedOp::Sum, comms[rank], streams[rank]),
        Result::Success);
    if (rank == 1)
      awaitThat([&] { return hasBegun.load(); });
    EXPECT_EQ(ncclAllGather(send[rank], recv[rank], few, DataType::Float32, comms[rank], streams[rank]),
              Result::Success);
    if (rank == 0) {
      EXPECT_EQ(ncclGroupEnd(), Result::Success);
    }
  });
  awaitThat([this] { return areIdle(); });
}

} // namespace
