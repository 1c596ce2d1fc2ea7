// SPDX-License-Identifier: Apache-2.0
// Tests online selection on host communicators: choices change, and every call gives the right data.
#include "ApiGroup.h"

#include <cstring>

using namespace gc3::test;

namespace {

constexpr int ranks = 3;

gc3HostConfig_t tuned(gc3Tune_t tune, float budget = 0) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tune = tune;
  config.tuneBudget = budget;
  return config;
}

/// Makes `calls` AllReduce calls of changing sizes on one thread per rank, with one call in three in place. Returns the
/// number of wrong results.
int countWrong(Group &group, int calls, gc3DataType_t type = gc3Float32) {
  std::vector<int> wrong(ranks);
  const auto run = [&](int r, gc3Comm_t comm) {
    for (int c = 0; c < calls; ++c) {
      const size_t count = size_t{16} << c % 7;
      std::vector<float> send(count, static_cast<float>(r + c)), recv(count, -1);
      const bool isInPlace = c % 3 == 0;
      float *in = isInPlace ? recv.data() : send.data();
      std::copy(send.begin(), send.end(), in);
      if (gc3Result_t result = gc3AllReduce(in, recv.data(), count, type, gc3Sum, comm, nullptr); result != gc3Success)
        return result;
      wrong[r] += recv != std::vector<float>(count, static_cast<float>(3 * c + 3));
    }
    return gc3Success;
  };
  for (gc3Result_t result : group.threads(run))
    EXPECT_EQ(result, gc3Success);
  return wrong[0] + wrong[1] + wrong[2];
}

gc3TuneCounters_t countersOf(const Group &group) {
  gc3TuneCounters_t counters = {sizeof counters, 0, 0, 0, 0, 0};
  EXPECT_EQ(gc3CommGetTuneCounters(group.comms[0], &counters), gc3Success);
  return counters;
}

std::string selected(const Group &group, size_t count, gc3DataType_t type = gc3Float32) {
  const char *name = "";
  EXPECT_EQ(gc3SelectProgram(group.comms[0], "allreduce", count, type, -1, &name), gc3Success);
  return name;
}

} // namespace

/// Online selection keeps a pinned program for its sizes only.
TEST(Online, PinnedPrograms) {
  std::vector<ProgramSpec> programs = differentAllReduces(ranks);
  programs[0].pinned = true;
  programs[0].maxBytes = 512;
  Group group(programs, ranks, tuned(gc3TuneOnline));
  EXPECT_EQ(countWrong(group, 700), 0);
  EXPECT_GE(countersOf(group).calls, 400U);
  EXPECT_LT(countersOf(group).calls, 700U) << "three of seven sizes are pinned";
  EXPECT_EQ(selected(group, 16), "chain");
  EXPECT_EQ(selected(group, 64), "chain");
}

TEST(Online, TriesOtherProgramsAndKeepsDataRight) {
  Group group(promisingAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  EXPECT_EQ(countWrong(group, 2000), 0);
  const gc3TuneCounters_t counters = countersOf(group);
  EXPECT_GE(counters.calls, 2000);
  EXPECT_GT(counters.explored, 0);
  EXPECT_GT(counters.microseconds, 0);
}

TEST(Online, OneThreadMakesTheCallsOfAllRanks) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  for (int c = 0; c < 300; ++c) {
    Data send = ramp(ranks, 100), recv(ranks, std::vector<float>(100));
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(send[r].data(), recv[r].data(), 100, gc3Float32, gc3Max, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(recv, Data(ranks, send[2]));
  }
  EXPECT_GE(countersOf(group).calls, 300);
}

TEST(Online, IsOffByDefault) {
  Group group(differentAllReduces(ranks), ranks);
  EXPECT_EQ(countWrong(group, 100), 0);
  EXPECT_EQ(countersOf(group).calls, 0);
  EXPECT_EQ(selected(group, 1000), "chain");
}

TEST(Online, KeepsTheProgramOfRoundedCalls) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnlineSameBits));
  EXPECT_EQ(countWrong(group, 100), 0);
  EXPECT_EQ(countersOf(group).calls, 0);
  EXPECT_EQ(selected(group, 1000), "chain");
  int data[ranks][2] = {};
  for (int c = 0; c < 10; ++c) // sums of integers are the same in any order
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(data[r], data[r], 2, gc3Int32, gc3Sum, comm, nullptr);
    }),
              gc3Success);
  EXPECT_EQ(countersOf(group).calls, 10);
}

TEST(Online, FrozenChoicesDoNotExplore) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline, -1));
  EXPECT_EQ(countWrong(group, 500), 0);
  EXPECT_EQ(countersOf(group).explored, 0);
}

TEST(Online, TrustsTheTimesOfTheBundle) {
  std::vector<ProgramSpec> programs = differentAllReduces(ranks);
  for (ProgramSpec &program : programs)
    program.times = {{1, program.name == "chain" ? 1e3 : 1e10}}; // so far apart that a slow first call shows no error
  Group group(programs, ranks, tuned(gc3TuneOnline));
  EXPECT_EQ(countWrong(group, 50), 0);
  EXPECT_EQ(countersOf(group).explored, 0);
}

TEST(Online, TheListOfProgramsLimitsTheArms) {
  gc3HostConfig_t config = tuned(gc3TuneOnline);
  config.programs = "allreduce:plain";
  Group group(differentAllReduces(ranks), ranks, config);
  EXPECT_EQ(countWrong(group, 100), 0);
  EXPECT_EQ(countersOf(group).calls, 0);
  EXPECT_EQ(selected(group, 1000), "plain");
}

TEST(Online, ATunerTakesPrecedence) {
  gc3HostConfig_t config = tuned(gc3TuneOnline);
  config.tuner = [](const gc3TunerCall_t *, void *) { return 1; };
  Group group(differentAllReduces(ranks), ranks, config);
  EXPECT_EQ(countWrong(group, 100), 0);
  EXPECT_EQ(countersOf(group).calls, 0);
  EXPECT_EQ(selected(group, 1000), "plain");
}

TEST(Online, MismatchedCallsAreErrors) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  EXPECT_EQ(countWrong(group, 60), 0);
  for (int c = 0; c < 3; ++c) {
    Data send = ramp(ranks, 100), recv(ranks, std::vector<float>(100));
    const auto results = group.threads([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(send[r].data(), recv[r].data(), r == 1 ? 99 : 100, gc3Float32, gc3Sum, comm, nullptr);
    });
    EXPECT_EQ(results, std::vector<gc3Result_t>(ranks, gc3InvalidUsage));
  }
  EXPECT_EQ(countWrong(group, 60), 0);
}

TEST(Online, ErrorsAndEmptyCallsAreAsWithoutIt) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  float data[ranks][2] = {};
  const auto all = [&](auto call) { return group.together(call); };
  EXPECT_EQ(all([&](int r, gc3Comm_t comm) { return gc3AllGather(data[r], data[r], 1, gc3Float32, comm, nullptr); }),
            gc3NoProgram);
  EXPECT_EQ(
      all([&](int, gc3Comm_t comm) { return gc3AllReduce(nullptr, nullptr, 0, gc3Float32, gc3Sum, comm, nullptr); }),
      gc3Success);
  EXPECT_EQ(countersOf(group).calls, 0);
}

/// A call by name may run a program whose buffers have another shape. A call of the standard collective must not.
TEST(Online, KindsOfCallsDoNotShareTheirPrograms) {
  std::vector<ProgramSpec> programs = differentAllReduces(ranks);
  for (int copy = 0; copy < 2; ++copy) {
    ProgramSpec wide = allToAll(ranks, 1);
    wide.name = "wide" + std::to_string(copy), wide.collective = "allreduce";
    programs.push_back(wide);
  }
  Group group(programs, ranks, tuned(gc3TuneOnline));
  Data send = ramp(ranks, 12), recv(ranks, std::vector<float>(12));
  group.together([&](int r, gc3Comm_t comm) {
    return gc3RunCollective(comm, "allreduce", send[r].data(), recv[r].data(), 4, gc3Float32, gc3Sum, nullptr);
  });
  EXPECT_EQ(countWrong(group, 500), 0);
}

TEST(Online, UnknownTypesAndOperationsAreErrors) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  float data[ranks][2] = {};
  const auto call = [&](int type, int op) {
    return group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(data[r], data[r], 2, static_cast<gc3DataType_t>(type), static_cast<gc3RedOp_t>(op), comm,
                          nullptr);
    });
  };
  for (const int wrong : {-1, 99, 1 << 30}) {
    EXPECT_EQ(call(wrong, gc3Sum), gc3InvalidArgument);
    EXPECT_EQ(call(gc3Float32, wrong), gc3InvalidArgument);
  }
  EXPECT_EQ(call(gc3Float32, gc3Sum), gc3Success);
}

TEST(Online, ReusesPlacesOfRequests) {
  Group group(differentAllReduces(ranks), ranks, tuned(gc3TuneOnline));
  std::vector<float> data[ranks];
  for (size_t count = 1; count <= 200; ++count) // more than the backend keeps
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (auto &mine : data)
        mine.assign(count, 1);
      ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
        return gc3AllReduce(data[r].data(), data[r].data(), count, gc3Float32, gc3Sum, comm, nullptr);
      }),
                gc3Success);
      EXPECT_EQ(data[1], std::vector<float>(count, 3));
    }
}

TEST(Online, RejectsSettingsOutOfRange) {
  const std::string bytes = buildBundle(differentAllReduces(ranks));
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[ranks];
  const auto expect = [&](std::vector<const char *> environment, const gc3HostConfig_t &config, const char *text) {
    const auto settings = gc3::core::Settings::read(environment);
    EXPECT_EQ(gc3::api::initHost(comms, ranks, bundle, &config, settings), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(nullptr), text);
  };
  const gc3HostConfig_t plain = GC3_HOST_CONFIG_INITIALIZER;
  expect({"GC3_TUNE=on"}, plain, "GC3_TUNE is 'on'; it can be off, or online, then ,same-bits or ,shapes or both");
  expect({"GC3_TUNE=online,shapes,shapes"}, plain,
         "GC3_TUNE is 'online,shapes,shapes'; it can be off, or online, then ,same-bits or ,shapes or both");
  expect({"GC3_TUNE_BUDGET=2%"}, plain, "GC3_TUNE_BUDGET is '2%'; it can be a number from 0 to 100");
  expect({"GC3_TUNE_BUDGET=101"}, plain, "GC3_TUNE_BUDGET is '101'; it can be a number from 0 to 100");
  expect({}, tuned(static_cast<gc3Tune_t>(6)), "unknown tune 6");
  expect({}, tuned(gc3TuneOnline, 101), "tuneBudget is 101.000000; it can be at most 100");
  gc3BundleFree(bundle);
}

TEST(Online, CountersNeedASize) {
  Group group(differentAllReduces(ranks), ranks);
  gc3TuneCounters_t counters = {};
  EXPECT_EQ(gc3CommGetTuneCounters(group.comms[0], &counters), gc3InvalidArgument);
  EXPECT_EQ(gc3CommGetTuneCounters(group.comms[0], nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommGetTuneCounters(nullptr, &counters), gc3InvalidArgument);
}
