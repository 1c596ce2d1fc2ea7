// SPDX-License-Identifier: Apache-2.0
// Tests every wrong use of the C API, calls that differ between ranks, and programs that deadlock.
#include "ApiGroup.h"
#include "SettingsSupport.h"

#include <cstddef>
#include <cstring>

using namespace gc3;
using namespace gc3::test;

TEST(Api, MismatchedCallsFailOnEveryRank) {
  Group group({ringAllReduce(2, true)}, 2);
  std::vector<float> sum[2];
  auto expectSums = [&] {
    for (std::vector<float> &values : sum)
      values.assign(4, 1);
    EXPECT_EQ(group.threads([&](int r, gc3Comm_t c) {
      return gc3AllReduce(sum[r].data(), sum[r].data(), 4, gc3Float32, gc3Sum, c, nullptr);
    }),
              std::vector<gc3Result_t>(2, gc3Success));
    EXPECT_EQ(sum[0], std::vector<float>(4, 2));
    EXPECT_EQ(sum[1], sum[0]);
  };
  auto expectMismatch = [&](auto call) {
    expectSums(); // keeps a prepared call, which rank 0 enters in the next call: it sends before rank 1 has called
    auto results = group.threads(call);
    EXPECT_EQ(results, std::vector<gc3Result_t>(2, gc3InvalidUsage));
    EXPECT_NE(std::strstr(gc3GetLastError(group.comms[1]), "do not match"), nullptr);
  };
  std::vector<double> data[2] = {std::vector<double>(16), std::vector<double>(16)};
  auto buffer = [&](int r) { return data[r].data(); };
  expectMismatch(
      [&](int r, gc3Comm_t c) { return gc3AllReduce(buffer(r), buffer(r), 4 + r, gc3Float32, gc3Sum, c, nullptr); });
  expectMismatch([&](int r, gc3Comm_t c) {
    return gc3AllReduce(buffer(r), buffer(r), 4, r ? gc3Float64 : gc3Float32, gc3Sum, c, nullptr);
  });
  expectMismatch([&](int r, gc3Comm_t c) {
    return gc3AllReduce(buffer(r), buffer(r), 4, gc3Float32, r ? gc3Sum : gc3Max, c, nullptr);
  });
  expectMismatch([&](int r, gc3Comm_t c) {
    return r ? gc3AllReduce(buffer(r), buffer(r), 4, gc3Float32, gc3Sum, c, nullptr)
             : gc3AllToAll(buffer(r), buffer(r), 4, gc3Float32, c, nullptr);
  });
  expectSums(); // later calls work again
}

TEST(Api, AbsentRankIsATimeout) {
  Group group({ringAllReduce(2, true)}, 2, withTimeout(20));
  float value = 1;
  EXPECT_EQ(gc3AllReduce(&value, &value, 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Timeout);
  EXPECT_NE(
      std::strstr(gc3GetLastError(group.comms[0]), "1 of 2 ranks wait in a call that these ranks have not made: 1"),
      nullptr)
      << gc3GetLastError(group.comms[0]);
  EXPECT_STREQ(gc3GetLastError(nullptr), gc3GetLastError(group.comms[0]));
}

// After a timeout, ranks can disagree about which calls belong together, so all later calls fail.
TEST(Api, NothingIsCalledAfterATimeout) {
  Group group({ringAllReduce(2, true)}, 2, withTimeout(20));
  Data data = ramp(2, 1);
  EXPECT_EQ(gc3AllReduce(data[0].data(), data[0].data(), 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Timeout);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 1, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Timeout);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[1]), "an earlier call timed out"), nullptr);
  EXPECT_EQ(data, ramp(2, 1));
}

// A call that is rejected at once fails its group, so that other ranks do not wait for it.
TEST(Api, RefusedCallEndsItsGroup) {
  Group group({ringAllReduce(2, true)}, 2);
  Data data = ramp(2, 1);
  ASSERT_EQ(gc3GroupStart(), gc3Success);
  EXPECT_EQ(gc3AllReduce(data[0].data(), data[0].data(), 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Success);
  EXPECT_EQ(gc3Broadcast(data[1].data(), data[1].data(), 1, gc3Float32, -5, group.comms[1], nullptr),
            gc3InvalidArgument);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidArgument);
  EXPECT_EQ(data, ramp(2, 1));
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 1, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(data, (Data{{100}, {100}}));
}

// If a call on one set of communicators fails, the group drops the other calls on that set. Calls on other sets still
// run.
TEST(Api, ErrorsStayInTheirWorld) {
  Group bad({ringAllReduce(2, true)}, 2), good({ringAllReduce(2, true)}, 2);
  Data data = ramp(2, 2), sums = ramp(2, 2);
  ASSERT_EQ(gc3GroupStart(), gc3Success);
  for (size_t r = 0; r < 2; ++r) {
    gc3AllReduce(data[r].data(), data[r].data(), 1 + r, gc3Float32, gc3Sum, bad.comms[r], nullptr); // counts differ
    for (int call = 0; call < 2; ++call)
      gc3AllReduce(sums[r].data(), sums[r].data(), 2, gc3Float32, gc3Sum, good.comms[r], nullptr);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_EQ(data, ramp(2, 2));
  EXPECT_EQ(sums, (Data{{200, 204}, {200, 204}}));
}

TEST(Api, DeadlockIsExplained) {
  // With one slot per connection, the second step of each rank needs a slot that only the second step of the next rank
  // frees.
  ProgramSpec ring = ringAllReduce(3, true);
  ring.minFifoSlots = 1;
  ring.fifoSlots = 1;
  for (gc3Order_t order : {gc3OrderFair, gc3OrderAdversarial}) {
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.order = order;
    Group group({ring, allGather(3, false)}, 3, config);
    Data data = ramp(3, 300000);
    EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(data[r].data(), data[r].data(), 300000, gc3Float32, gc3Sum, comm, nullptr);
    }),
              gc3Deadlock);
    std::string text = gc3GetLastError(group.comms[2]);
    EXPECT_NE(text.find("a cycle of 3:"), std::string::npos) << text;
    for (const char *line : {"rank 0 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 1 on channel 0",
                             "rank 1 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 2 on channel 0",
                             "rank 2 thread block 0 step 1 (rrs, tile 0) waits for a free slot to rank 0 on channel 0"})
      EXPECT_NE(text.find(line), std::string::npos) << text;
    // Other calls still work.
    Data mine = ramp(3, 1), all(3, std::vector<float>(3));
    EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllGather(mine[r].data(), all[r].data(), 1, gc3Float32, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(all, Data(3, std::vector<float>{0, 100, 200}));
  }
}

TEST(Api, DeadlockNamesBlocksThatWaitForTheCycle) {
  ProgramSpec spec = allToAll(3, 1);
  for (uint32_t r = 0; r < 2; ++r) // ranks 0 and 1 both receive first
    for (Block &block : spec.ranks[r].blocks)
      if (block.sendPeer == static_cast<int32_t>(1 - r))
        std::swap(block.steps[0], block.steps[1]);
  spec.ranks[2].blocks[0].steps[0].waits = {{1, 1}};
  spec.ranks[0].blocks[2].steps[0].waits = {{1, 0}}; // the send to rank 2 waits for rank 0's receive from rank 1
  Group group({spec}, 3);
  Data data = ramp(3, 3), got = ramp(3, 3);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllToAll(data[r].data(), got[r].data(), 1, gc3Float32, comm, nullptr);
  }),
            gc3Deadlock);
  std::string text = gc3GetLastError(group.comms[0]);
  EXPECT_NE(
      text.find(
          "a cycle of 2:\n  rank 0 thread block 1 step 0 (recv, tile 0) waits for a message from rank 1 on channel 0\n "
          " "
          "rank 1 thread block 1 step 0 (recv, tile 0) waits for a message from rank 0 on channel 0\n and after it:"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 0 thread block 2 step 0 (send, tile 0) waits for thread block 1 step 0"), std::string::npos)
      << text;
}

TEST(Api, RefusesWrongArguments) {
  Group group({ringAllReduce(2, true), shiftReversed(2, 2)}, 2);
  float x[4] = {};
  auto all = [&](auto call) { return group.together([&](int, gc3Comm_t comm) { return call(comm); }); };
  EXPECT_EQ(gc3AllReduce(x, x, 1, gc3Float32, gc3Sum, nullptr, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3AllReduce(x, x, 1, gc3Float32, gc3Sum, group.comms[0], x), gc3InvalidArgument);
  EXPECT_EQ(gc3Broadcast(x, x, 1, gc3Float32, -1, group.comms[0], nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3RunCollective(group.comms[0], nullptr, x, x, 1, gc3Float32, gc3Sum, nullptr), gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(nullptr, x, 1, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, nullptr, 1, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, 1, gc3NumTypes, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, 1, gc3Float32, gc3NumOps, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, SIZE_MAX, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(x, x, SIZE_MAX / 8, gc3Float32, gc3Sum, c, nullptr); }),
            gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3Broadcast(x, x, 1, gc3Float32, 2, c, nullptr); }), gc3InvalidArgument);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3AllReduce(nullptr, nullptr, 0, gc3Float32, gc3Sum, c, nullptr); }),
            gc3Success);
  EXPECT_EQ(all([&](gc3Comm_t c) { return gc3RunProgram(c, "nothing", x, x, 1, gc3Float32, gc3Sum, nullptr); }),
            gc3NoProgram);
  float y[2][4] = {};
  EXPECT_EQ(group.together([&](int r, gc3Comm_t c) {
    return gc3RunCollective(c, "shift_reversed", x, y[r], 4, gc3Float32, gc3Avg, nullptr);
  }),
            gc3InvalidArgument);
  EXPECT_NE(std::strstr(gc3GetLastError(nullptr), "avg is not defined"), nullptr);
  gc3Comm_t comm = nullptr;
  EXPECT_EQ(gc3HostCommInitAll(&comm, 0, group.bundle, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3BundleLoad(nullptr, "x"), gc3InvalidArgument);
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoad(&bundle, "/nonexistent"), gc3SystemError);
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, "hello", 5), gc3NotABundle);
  EXPECT_EQ(bundle, nullptr);
}

namespace {

/// Creates communicators of two ranks. Returns the error message, or an empty string.
std::string made(const gc3HostConfig_t &config, const core::Settings &settings = {}) {
  const std::string bytes = buildBundle({ringAllReduce(2, true)});
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[2] = {};
  const gc3Result_t result = api::initHost(comms, 2, bundle, &config, settings);
  EXPECT_TRUE(result == gc3Success || result == gc3InvalidArgument) << result;
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  gc3BundleFree(bundle);
  return result == gc3Success ? "" : gc3GetLastError(nullptr);
}

} // namespace

// The size of a config is its version. Configs of other versions are rejected.
TEST(Api, ConfigsAreOfThisVersion) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  EXPECT_EQ(made(config), "");
  for (size_t size : {size_t{0}, sizeof(size_t), offsetof(gc3HostConfig_t, programs) + 1,
                      offsetof(gc3HostConfig_t, tunerData), sizeof config - 1, sizeof config + 1, SIZE_MAX}) {
    config.size = size;
    EXPECT_EQ(made(config),
              "the config was not initialised with GC3_HOST_CONFIG_INITIALIZER or belongs to another version of "
              "gc3")
        << size;
  }
}

TEST(Api, TheEnvironmentHasATimeoutOrAnError) {
  gc3HostConfig_t own = withTimeout(1000);
  for (const char *time : {"20s", "-1", "x", " 1", "4294967296"}) {
    const core::Settings settings = settingsOf({{"GC3_TIMEOUT_MS", time}});
    EXPECT_EQ(made(GC3_HOST_CONFIG_INITIALIZER, settings),
              "GC3_TIMEOUT_MS is '" + std::string(time) +
                  "'; it can be a number of milliseconds up to 4294967295, or 0 for the default");
    EXPECT_EQ(made(own, settings), "") << "the config has priority";
  }
  for (const char *none : {"", "0"})
    EXPECT_EQ(made(GC3_HOST_CONFIG_INITIALIZER, settingsOf({{"GC3_TIMEOUT_MS", none}})), "");
  Group group({ringAllReduce(2, true)}, 2, GC3_HOST_CONFIG_INITIALIZER, settingsOf({{"GC3_TIMEOUT_MS", "20"}}));
  float value = 1;
  EXPECT_EQ(gc3AllReduce(&value, &value, 1, gc3Float32, gc3Sum, group.comms[0], nullptr), gc3Timeout);
  EXPECT_EQ(std::string(gc3GetLastError(nullptr)).find("after 20 ms, "), 0u) << gc3GetLastError(nullptr);
}
