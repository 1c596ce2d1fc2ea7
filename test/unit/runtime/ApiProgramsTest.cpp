// SPDX-License-Identifier: Apache-2.0
// Tests the selection of a bundle's program for a call of the C API: by root, size, shape and name.
#include "ApiGroup.h"

#include <cstring>

using namespace gc3::test;

TEST(Api, RootsChooseTheProgram) {
  std::vector<ProgramSpec> programs;
  for (uint32_t root : {0u, 2u})
    for (const ProgramSpec &spec : {broadcast(3, root), reduceTo(3, root), gather(3, root), scatter(3, root)})
      programs.push_back(spec);
  Group group(programs, 3);
  for (int root : {0, 2}) {
    Data data = ramp(3, 6), got(3, std::vector<float>(6, -1));
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Broadcast(r == root ? data[r].data() : nullptr, got[r].data(), 6, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[1], data[root]);
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Reduce(data[r].data(), r == root ? got[r].data() : nullptr, 6, gc3Float32, gc3Max, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[root], data[2]);
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Gather(data[r].data(), r == root ? got[r].data() : nullptr, 2, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[root], (std::vector<float>{0, 1, 100, 101, 200, 201}));
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3Scatter(r == root ? data[r].data() : nullptr, got[r].data(), 2, gc3Float32, root, comm, nullptr);
    }),
              gc3Success);
    EXPECT_EQ(got[1][0], static_cast<float>(100 * root + 2));
  }
  Data data = ramp(3, 6);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3Broadcast(data[r].data(), data[r].data(), 6, gc3Float32, 1, comm, nullptr);
  }),
            gc3NoProgram);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "has root 2"), nullptr) << gc3GetLastError(group.comms[0]);
}

TEST(Api, SelectsBySize) {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2);
  small.maxBytes = 1024;
  large.minBytes = 1024;
  Group group({small, large}, 2);
  const char *name = nullptr;
  ASSERT_EQ(gc3SelectProgram(group.comms[0], "allreduce", 255, gc3Float32, -1, &name), gc3Success);
  EXPECT_EQ(name, small.name);
  ASSERT_EQ(gc3SelectProgram(group.comms[0], "allreduce", 256, gc3Float32, -1, &name), gc3Success);
  EXPECT_EQ(name, large.name);
  EXPECT_EQ(gc3SelectProgram(group.comms[0], "allgather", 256, gc3Float32, -1, &name), gc3NoProgram);
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "allreduce on 2 ranks, 1024 .. "), nullptr)
      << gc3GetLastError(group.comms[0]);
}

TEST(Api, RefusesProgramsOfAnotherShape) {
  ProgramSpec wide = allToAll(2, 1);
  wide.collective = "allreduce"; // as an AllReduce, this program would write beyond the caller's output buffer
  Group group({wide}, 2);
  Data data = ramp(2, 8), got = ramp(2, 8);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), got[r].data(), 4, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3NoProgram);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunCollective(comm, "allreduce", data[r].data(), got[r].data(), 4, gc3Float32, gc3Sum, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(got[0][4], 100);
}

TEST(Api, CountOfZeroStillNamesAProgram) {
  Group group({ringAllReduce(2, true)}, 2);
  EXPECT_EQ(group.together([&](int, gc3Comm_t comm) {
    return gc3AllReduce(nullptr, nullptr, 0, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3Success);
  EXPECT_EQ(group.together([&](int, gc3Comm_t comm) {
    return gc3RunProgram(comm, "no such program", nullptr, nullptr, 0, gc3Float32, gc3Sum, nullptr);
  }),
            gc3NoProgram);
}

TEST(Api, TooFewSlotsAreRefused) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.slots = 1;
  Group group({ringAllReduce(3, true)}, 3, config);
  Data data = ramp(3, 6);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), data[r].data(), 6, gc3Float32, gc3Sum, comm, nullptr);
  }),
            gc3InvalidArgument);
  EXPECT_NE(std::strstr(gc3GetLastError(nullptr), "needs at least 2"), nullptr);
}

TEST(Api, DescribesItself) {
  Group group({ringAllReduce(2, true), allGather(2, false)}, 2);
  int value = 0;
  ASSERT_EQ(gc3GetVersion(&value), gc3Success);
  EXPECT_EQ(value, GC3_VERSION);
  ASSERT_EQ(gc3CommCount(group.comms[1], &value), gc3Success);
  EXPECT_EQ(value, 2);
  ASSERT_EQ(gc3CommUserRank(group.comms[1], &value), gc3Success);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(gc3BundleProgramCount(group.bundle, &value), gc3Success);
  EXPECT_EQ(value, 2);
  gc3ProgramInfo_t info = {};
  EXPECT_EQ(gc3BundleProgramInfo(group.bundle, 0, &info), gc3InvalidArgument);
  info.size = sizeof info;
  ASSERT_EQ(gc3BundleProgramInfo(group.bundle, 1, &info), gc3Success);
  EXPECT_STREQ(info.collective, "allgather");
  EXPECT_EQ(gc3BundleProgramInfo(group.bundle, 2, &info), gc3InvalidArgument);
  size_t in = 0, out = 0;
  ASSERT_EQ(gc3ProgramElements(group.bundle, 1, 0, 5, &in, &out), gc3Success);
  EXPECT_EQ(in, 5u);
  EXPECT_EQ(out, 10u);
  EXPECT_EQ(gc3ProgramElements(group.bundle, 1, 2, 5, &in, &out), gc3InvalidArgument);
  for (int code = 0; code < 17; ++code)
    EXPECT_NE(gc3GetErrorString(static_cast<gc3Result_t>(code)), nullptr);
  EXPECT_STREQ(gc3GetErrorString(gc3Deadlock), "the program is in a deadlock");
  EXPECT_EQ(gc3CommDestroy(nullptr), gc3Success);
}
