// SPDX-License-Identifier: Apache-2.0
// Tests choices beside calls of other communicators.
#include "ApiGroup.h"

#include "api/InFlight.h"
#include "api/OnlineCalls.h"

using namespace gc3;
using namespace gc3::test;

namespace {

constexpr uint32_t rankCount = 3;
constexpr uint64_t phase = 100; ///< calls until the traffic changes

bool isShared(uint64_t number) {
  return number / phase % 2 != 0;
}

/// The ranks' times: the first program is faster alone, the second one beside other calls.
struct Times : api::OnlineCalls::Reader {
  std::vector<uint32_t> programs{0}; ///< by call; calls begin at 1
  api::OnlineCalls::TimedCall lastTimed(uint64_t number) const override {
    if (number < 2)
      return {};
    const uint64_t timed = number - 1;
    const bool isFast = (programs[timed] == 1) == isShared(timed);
    return {timed, isFast ? 100.0F : 150.0F, false, isShared(timed)};
  }
};

} // namespace

TEST(Traffic, HasItsOwnChoices) {
  ProgramSpec chain = writesInput(rankCount), ring = ringAllReduce(rankCount, true);
  chain.name = "chain", ring.name = "ring";
  const std::string bytes = buildBundle({chain, ring});
  const auto file = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(file.ok());
  host::CallOptions options;
  options.tune.isOnline = true;
  const host::Site site(rankCount);
  host::CallTable table(**file, site, options);
  std::mutex mutex;
  api::OnlineCalls online(table, mutex);
  Times times;
  const core::Request request{core::CallKind::Standard, "allreduce", nullptr, nullptr, 1000, gc3Float32, gc3Sum, -1};
  uint64_t slow = 0;
  for (uint64_t number = 1; number < 10 * phase; ++number) {
    times.programs.push_back(api::OnlineCalls::armOf(online.decide(number, request, times)).program);
    if (number > 2 * phase)
      slow += (times.programs[number] == 1) != isShared(number);
  }
  EXPECT_LE(slow, 8 * 4U); // a choice sees the traffic two calls later; a few calls explore
  EXPECT_EQ(*online.select(request), std::string("chain"));
}

TEST(Traffic, IsThatOfOtherCommunicators) {
  api::InFlight first;
  {
    api::InFlight second;
    second.begin();
    EXPECT_TRUE(first.areOthers());
    EXPECT_FALSE(second.areOthers());
    second.end();
    EXPECT_FALSE(first.areOthers());
    second.begin();
  }
  EXPECT_FALSE(first.areOthers());
}

TEST(Traffic, ManyCommunicatorsAreNotAllCounted) {
  std::vector<std::unique_ptr<api::InFlight>> many(100);
  for (auto &each : many)
    each = std::make_unique<api::InFlight>(), each->begin();
  api::InFlight last;
  EXPECT_TRUE(last.areOthers());
  many.erase(many.begin(), many.begin() + 70);
  EXPECT_FALSE(last.areOthers());
}

/// The tuner runs during a call.
TEST(Traffic, HostCommunicatorsAreInFlightDuringTheirCalls) {
  api::InFlight other;
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tunerData = &other;
  config.tuner = [](const gc3TunerCall_t *, void *data) {
    EXPECT_TRUE(static_cast<api::InFlight *>(data)->areOthers());
    return 0;
  };
  Group group({writesInput(rankCount)}, rankCount, config);
  Data data = ramp(rankCount, 4);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 4, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_FALSE(other.areOthers());
}

/// Alone, exploration may cost nothing after the first 50 calls. Beside other calls, there are 50 first calls again.
TEST(Traffic, BesideOtherCallsTheFirstCallsTryPrograms) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tune = gc3TuneOnline, config.tuneBudget = 1e-6F;
  Group group(promisingAllReduces(rankCount), rankCount, config);
  const auto explored = [&](int calls) {
    Data data = ramp(rankCount, 16);
    for (int c = 0; c < calls; ++c)
      EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
        return gc3AllReduce(data[r].data(), data[r].data(), 16, gc3Float32, gc3Max, comm, nullptr);
      }),
                gc3Success);
    gc3TuneCounters_t counters = {sizeof counters, 0, 0, 0, 0, 0};
    EXPECT_EQ(gc3CommGetTuneCounters(group.comms[0], &counters), gc3Success);
    return counters.explored;
  };
  const auto first = explored(100), alone = explored(300);
  api::InFlight other;
  other.begin();
  EXPECT_GT(first, 0);
  EXPECT_GT(explored(300), alone);
}
