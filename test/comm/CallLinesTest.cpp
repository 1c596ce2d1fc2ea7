// SPDX-License-Identifier: Apache-2.0
// Tests the lines that calls of the C API log with GC3_DEBUG=INFO, on the host, on one GPU and on several GPUs.
#include "ApiGroup.h"
#include "ApiSupport.h"
#include "api/LoopbackBackend.h"
#include "core/Settings.h"

#include <cstdlib>
#include <regex>
#include <sstream>

using namespace gc3;
using namespace gc3::test;

namespace {

// Makes the process read its settings before any test, so that the lines about settings are not among captured lines.
const bool informs = setenv("GC3_DEBUG", "INFO", 1) == 0 && core::settings().isInfoEnabled();

/// The lines about loaded programs that the last linesOf() captured.
std::vector<std::string> loading;

/// Runs `calls`. Returns the lines that gc3 prints, except those about loaded programs, which go to `loading`.
template <typename Calls>
std::vector<std::string> linesOf(Calls calls) {
  testing::internal::CaptureStderr();
  calls();
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  loading.clear();
  for (std::string line; std::getline(text, line);)
    if (line.rfind("==", 0) != 0)
      (line.find(" is loaded: ") == std::string::npos ? lines : loading).push_back(line);
  return lines;
}

using Lines = std::vector<std::string>;

/// Calls of one rank on the host. The other rank makes no call, so they time out after 1 ms.
class HostLines : public testing::Test {
protected:
  template <typename Function>
  Lines lines(Function call) {
    return linesOf([&] { call(group.comms[0]); });
  }

  static ProgramSpec ring() {
    ProgramSpec spec = ringAllReduce(2, true);
    spec.name = "ring";
    spec.maxBytes = 1 << 20;
    return spec;
  }
  static ProgramSpec own() {
    ProgramSpec spec = shiftReversed(2, 2);
    spec.name = "shift";
    return spec;
  }
  Group group{{ring(), own()}, 2, withTimeout(1)};
  float x[4] = {};
};

class NcclLines : public ApiTest {};

/// A group also logs its calls on a communicator that was aborted before the end of the group.
TEST_F(NcclLines, AnAbortedCommunicator) {
  make({ringAllReduce(2, true)});
  gc3GroupStart();
  EXPECT_EQ(allReduce(0), gc3Success);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[0], nullptr)), gc3Success);
  EXPECT_EQ(linesOf([] { EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage); }),
            Lines{"gc3: rank 0: allreduce 40 B float sum: the communicator was aborted"});
}

TEST(CallLines, EachRankHasOne) {
  ProgramSpec large = ringAllReduce(2, true), gather = allGather(2, false);
  large.name = "large";
  gather.name = "gather";
  Group group({large, gather}, 2);
  Data data = ramp(2, 1 << 18), all(2, std::vector<float>(1 << 19));
  EXPECT_EQ(linesOf([&] {
              group.together([&](int r, gc3Comm_t comm) {
                gc3AllReduce(data[r].data(), data[r].data(), 1 << 18, gc3Float32, gc3Max, comm, nullptr);
                return gc3AllGather(data[r].data(), all[r].data(), 3 << 17, gc3Float16, comm, nullptr);
              });
            }),
            (Lines{"gc3: rank 0: allreduce 1 MiB float max: program 'large'",
                   "gc3: rank 1: allreduce 1 MiB float max: program 'large'",
                   "gc3: rank 0: allgather 1.5 MiB half: program 'gather'",
                   "gc3: rank 1: allgather 1.5 MiB half: program 'gather'"}));
}

TEST(CallLines, RootsAreSaid) {
  ProgramSpec from1 = broadcast(2, 1);
  from1.name = "from1";
  Group group({from1}, 2);
  Data data = ramp(2, 4);
  EXPECT_EQ(linesOf([&] {
              group.together([&](int r, gc3Comm_t comm) {
                return gc3Broadcast(data[r].data(), data[r].data(), 4, gc3Float32, 1, comm, nullptr);
              });
            }),
            (Lines{"gc3: rank 0: broadcast 16 B float root 1: program 'from1'",
                   "gc3: rank 1: broadcast 16 B float root 1: program 'from1'"}));
}

/// The line of a custom collective has the number of elements, not of bytes, because the number of bytes depends on the
/// program.
TEST_F(HostLines, CollectivesOfOnesOwnHaveElements) {
  EXPECT_EQ(
      lines([&](gc3Comm_t comm) { gc3RunCollective(comm, "shift_reversed", x, x, 2, gc3Float32, gc3Sum, nullptr); }),
      Lines{"gc3: rank 0: shift_reversed 2 of float sum: program 'shift'"});
  EXPECT_EQ(lines([&](gc3Comm_t comm) { gc3RunProgram(comm, "ring", x, x, 4, gc3Int32, gc3Min, nullptr); }),
            Lines{"gc3: rank 0: ring 4 of int32 min: an earlier call timed out; destroy the communicators and create "
                  "new ones. Its error: after 1 ms, 1 of 2 ranks wait in a call that these ranks have not made: 1"});
}

TEST_F(HostLines, WhereNoProgramRunsTheReasonIsSaid) {
  EXPECT_EQ(lines([&](gc3Comm_t comm) { gc3AllToAll(x, x, 0, gc3Float32, comm, nullptr); }),
            Lines{"gc3: rank 0: alltoall 0 B float: no elements"});
  Group other({ring(), own()}, 2, withTimeout(1)); // a new group, because the first call on the old one has timed out
  EXPECT_EQ(linesOf([&] { gc3AllToAll(x, x, 4, gc3Float32, other.comms[1], nullptr); }),
            Lines{"gc3: rank 1: alltoall 32 B float: no program for 'alltoall' on 2 ranks; the bundle has: 'ring': "
                  "allreduce on 2 ranks, 0 .. 1048576 bytes 'shift': shift_reversed on 2 ranks"});
}

TEST_F(HostLines, WhatIsOutOfRangeIsSaid) {
  EXPECT_EQ(lines([&](gc3Comm_t comm) { gc3AllReduce(x, x, 4, gc3NumTypes, gc3Avg, comm, nullptr); }),
            Lines{"gc3: rank 0: allreduce 4 of type 12 avg: rank 0: unknown data type 12"});
  Group other({ring(), own()}, 2, withTimeout(1));
  EXPECT_EQ(linesOf([&] { gc3AllReduce(x, x, SIZE_MAX, gc3Float32, gc3NumOps, other.comms[0], nullptr); }),
            Lines{"gc3: rank 0: allreduce at least 16 EiB float op 5: rank 0: unknown reduction 5"});
}

TEST(CallLines, RanksThatShareAGpu) {
  FakeCuda fake;
  const ProgramSpec ring = ringAllReduce(2, true);
  const auto backend = api::LoopbackBackend::make(FakeCuda::table(), open({ring}), 2, smallOptions());
  ASSERT_TRUE(backend.ok());
  std::vector<gc3Comm_t> comms;
  std::vector<float *> buffers;
  for (uint32_t rank : {0u, 1u}) {
    comms.push_back(new gc3Comm{*backend, rank, {}});
    buffers.push_back(reinterpret_cast<float *>(fake.allocate(10 * sizeof(float))));
  }
  EXPECT_EQ(linesOf([&] {
              gc3GroupStart();
              for (size_t rank : {0, 1})
                gc3AllReduce(buffers[rank], buffers[rank], 10, gc3Float32, gc3Sum, comms[rank], nullptr);
              EXPECT_EQ(gc3GroupEnd(), gc3Success);
            }),
            (Lines{"gc3: rank 0: allreduce 40 B float sum: program '" + ring.name + "'",
                   "gc3: rank 1: allreduce 40 B float sum: program '" + ring.name + "'"}));
  ASSERT_EQ(loading.size(), 1u);
  EXPECT_TRUE(
      std::regex_match(loading[0], std::regex("gc3: program 'ring2_aliased_1' is loaded: Simple, 8 slots of 256 bytes, "
                                              "blocks of 32 threads, [1-9][0-9]* bytes for the program, 2 messages "
                                              "without slots, 4608 bytes of FIFO slots")))
      << loading[0];
  for (size_t rank : {0, 1}) {
    gc3CommDestroy(comms[rank]);
    fake.release(reinterpret_cast<std::byte *>(buffers[rank]));
  }
}

/// One program runs. The other program is refused: it uses LL128, and no link keeps LL128 lines whole.
TEST_F(NcclLines, RanksOnGpusOfTheirOwn) {
  fake.nvlink = false;
  gc3GpuConfig_t config = smallConfig();
  config.ll128 = gc3LL128Refuse;
  const ProgramSpec ring = ringAllReduce(2, true), refused = under(kernel::Protocol::LL128, plainRingAllReduce(2));
  make({ring, refused}, config);
  auto run = [&](const ProgramSpec &program) {
    gc3GroupStart();
    for (size_t rank : {0, 1})
      gc3RunProgram(comms[rank], program.name.c_str(), buffers[rank], buffers[rank], count, gc3Float32, gc3Sum,
                    streams[rank]);
    return gc3GroupEnd();
  };
  EXPECT_EQ(linesOf([&] { EXPECT_EQ(run(ring), gc3Success); }),
            (Lines{"gc3: rank 0: " + ring.name + " 10 of float sum: program '" + ring.name + "'",
                   "gc3: rank 1: " + ring.name + " 10 of float sum: program '" + ring.name + "'"}));
  EXPECT_EQ(loading.size(), 2u) << "one for each rank";
  const std::string why = "program '" + refused.name +
                          "': ranks 0 and 1, which it connects, have no link that keeps lines of LL128 whole, and "
                          "GC3_LL128 refuses another protocol";
  EXPECT_EQ(linesOf([&] { EXPECT_EQ(run(refused), gc3InvalidUsage); }),
            (Lines{"gc3: rank 0: " + refused.name + " 10 of float sum: " + why,
                   "gc3: rank 1: " + refused.name + " 10 of float sum: " + why}));
  EXPECT_STREQ(gc3GetLastError(comms[1]), why.c_str());
}

} // namespace
