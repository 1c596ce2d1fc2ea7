// SPDX-License-Identifier: Apache-2.0
// The C API beside an NCCL communicator, over the fakes.
#include "LsaSupport.h"
#include "Programs.h"
#include "api/Lsa.h"

#include <cstddef>

using namespace gc3;
using namespace gc3::test;

namespace {

class LsaApi : public testing::Test {
protected:
  /// All ranks of a communicator, in one group.
  void make(const std::vector<ProgramSpec> &specs, const cuda::Options &options = smallOptions()) {
    nccl = windows.table();
    const size_t ranks = specs[0].ranks.size();
    ncclComms = windows.make(static_cast<int>(ranks));
    comms.resize(ranks);
    const std::shared_ptr<const bundle::BundleFile> file = open(specs);
    std::vector<api::Lsa::Init> inits;
    for (size_t rank = 0; rank < ranks; ++rank) {
      inits.push_back({&comms[rank], applicant(ncclComms[rank], {file}, options)});
      streams.push_back(fake.stream(static_cast<int>(rank)));
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
      std::fill_n(buffers.back(), count, static_cast<float>(rank + 1));
    }
    const core::Outcome outcome = api::Lsa::make({cuda, nccl}, inits);
    ASSERT_TRUE(outcome.ok()) << outcome.text;
  }
  void TearDown() override {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    for (cuda::Stream stream : streams)
      FakeCuda::table().destroyStream(stream);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(windows.leaks(), leaks);
  }
  gc3Result_t allReduce(size_t rank, gc3DataType_t type = gc3Float32) {
    return gc3AllReduce(buffers[rank], buffers[rank], count, type, gc3Sum, comms[rank], streams[rank]);
  }
  gc3Result_t allReduceAll() {
    gc3GroupStart();
    for (size_t rank = 0; rank < comms.size(); ++rank)
      EXPECT_EQ(allReduce(rank), gc3Success);
    return gc3GroupEnd();
  }

  static constexpr size_t count = 10;
  FakeCuda fake;
  FakeWindows windows{fake};
  cuda::Cuda cuda = FakeCuda::table();
  ncclapi::Nccl nccl;
  std::vector<ncclapi::Comm> ncclComms;
  std::vector<gc3Comm_t> comms;
  std::vector<cuda::Stream> streams;
  std::vector<float *> buffers;
  std::string leaks;
};

TEST_F(LsaApi, CallsInGroupsAndAlone) {
  make({ringAllReduce(3, true), shiftReversed(3, 2)});
  int number = 0;
  EXPECT_EQ(gc3CommCount(comms[1], &number), gc3Success);
  EXPECT_EQ(number, 3);
  EXPECT_EQ(gc3CommUserRank(comms[1], &number), gc3Success);
  EXPECT_EQ(number, 1);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[2], "allreduce", count, gc3Float32, -1, &program), gc3Success);
  EXPECT_STREQ(program, "ring3_aliased_1");
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  for (size_t rank : {2, 0, 1}) // once it is loaded nobody waits for anybody
    EXPECT_EQ(allReduce(rank), gc3Success);
  for (float *buffer : buffers)
    EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, 18.0f));
  gc3Result_t result = gc3InternalError;
  EXPECT_EQ(gc3CommGetAsyncError(comms[0], &result), gc3Success);
  EXPECT_EQ(result, gc3Success);
}

/// Each rank has a scalar of its own, read when its call runs.
TEST_F(LsaApi, ReductionsOfOnesOwn) {
  make({ringAllReduce(3, false)});
  auto *scalars = reinterpret_cast<float *>(fake.allocate(3 * sizeof(float)));
  gc3GroupStart();
  for (size_t rank = 0; rank < 3; ++rank) {
    gc3RedOp_t op = gc3Sum;
    EXPECT_EQ(gc3RedOpCreatePreMulSum(&op, &scalars[rank], gc3Float32, gc3ScalarDevice, comms[rank]), gc3Success);
    EXPECT_EQ(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, op, comms[rank], streams[rank]),
              gc3Success);
    EXPECT_EQ(gc3RedOpDestroy(op, comms[rank]), gc3Success);
    scalars[rank] = static_cast<float>(10 * rank);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
  for (float *buffer : buffers)
    EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, 80.0f));
  gc3RedOp_t op = gc3Sum;
  ASSERT_EQ(gc3RedOpCreatePreMulSum(&op, scalars, gc3Float32, gc3ScalarDevice, comms[0]), gc3Success);
  EXPECT_EQ(gc3AllReduce(buffers[0], buffers[0], 1, gc3Float64, op, comms[0], streams[0]), gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "rank 0: the reduction was made for float, and the call is of double");
  fake.release(reinterpret_cast<std::byte *>(scalars));
}

/// A collective that users wrote.
TEST_F(LsaApi, CustomCollectives) {
  make({shiftReversed(3, 2)});
  std::vector<float *> outputs;
  gc3GroupStart();
  for (size_t rank = 0; rank < 3; ++rank) {
    outputs.push_back(reinterpret_cast<float *>(fake.allocate(2 * count * sizeof(float))));
    EXPECT_EQ(gc3RunCollective(comms[rank], "shift_reversed", buffers[rank], outputs[rank], count, gc3Float32, gc3Sum,
                               streams[rank]),
              gc3Success);
  }
  EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
  for (size_t rank : {1, 2})
    EXPECT_EQ(outputs[rank][0], static_cast<float>(rank));
  for (float *output : outputs)
    fake.release(reinterpret_cast<std::byte *>(output));
}

TEST_F(LsaApi, UsersChooseThePrograms) {
  cuda::Options options = smallOptions();
  options.choice.tuner = [](const gc3TunerCall_t *call, void *) { return call->count == count ? 1 : 7; };
  make({ringAllReduce(2, true), plainRingAllReduce(2)}, options);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", count, gc3Float32, -1, &program), gc3Success);
  EXPECT_EQ(program, plainRingAllReduce(2).name);
  EXPECT_EQ(allReduceAll(), gc3Success) << gc3GetLastError(nullptr);
  EXPECT_EQ(buffers[0][0], 3.0f);
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", 1, gc3Float32, -1, &program), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[1]),
               "the tuner answers 7 for 'allreduce' of 1 elements; it was asked about 2 programs");
}

/// As the call itself would be.
TEST_F(LsaApi, ProgramsThatAreRefusedAreNotSelected) {
  cuda::Options options = smallOptions();
  options.strictLL128 = true;
  fake.nvlink = false;
  make({under(kernel::Protocol::LL128, ringAllReduce(2, true))}, options);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[1], "allreduce", count, gc3Float32, -1, &program), gc3InvalidUsage);
  const std::string why = gc3GetLastError(comms[1]);
  EXPECT_EQ(why,
            "program 'ring2_aliased_1_2': ranks 0 and 1, which it connects, have no link that keeps lines of LL128 "
            "whole, and GC3_LL128 refuses another protocol");
  EXPECT_EQ(program, nullptr);
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_EQ(gc3GetLastError(comms[0]), why);
}

TEST_F(LsaApi, CallsThatAreRefused) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduce(0, static_cast<gc3DataType_t>(99)), gc3InvalidArgument);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "rank 0: unknown data type 99");
  gc3GroupStart();
  EXPECT_EQ(allReduce(0, gc3Int32), gc3Success);
  EXPECT_EQ(allReduce(1, gc3Float32), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[1]), "the calls of this thread's ranks do not match");
  EXPECT_EQ(gc3AllGather(nullptr, nullptr, count, gc3Float32, comms[0], streams[0]), gc3NoProgram);
  EXPECT_EQ(gc3AllGather(nullptr, nullptr, 0, gc3Float32, comms[0], streams[0]), gc3Success);
  EXPECT_EQ(fake.launches, 0u);
}

TEST_F(LsaApi, RanksGoOneByOne) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduceAll(), gc3Success);
  EXPECT_EQ(gc3CommDestroy(std::exchange(comms[0], nullptr)), gc3Success);
  windows.free(ncclComms[0]); // nothing of ours is left in it
  gc3Result_t result = gc3InternalError;
  EXPECT_EQ(gc3CommGetAsyncError(comms[1], &result), gc3Success);
  EXPECT_EQ(result, gc3Success);
}

TEST_F(LsaApi, AbortEndsWhatWaits) {
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduceAll(), gc3Success);
  EXPECT_EQ(allReduce(1), gc3Success);
  EXPECT_FALSE(fake.isIdle(streams[1]));
  for (gc3Comm_t &comm : comms)
    EXPECT_EQ(gc3CommAbort(std::exchange(comm, nullptr)), gc3Success);
  EXPECT_TRUE(fake.isIdle(streams[1]));
  EXPECT_EQ(gc3CommAbort(nullptr), gc3Success);
  leaks = "6 pieces of memory 2 pieces of pinned memory 2 pieces of symmetric memory 2 windows "; // as documented
}

/// From another thread, as the one that makes the call does not return.
TEST_F(LsaApi, AbortEndsACallThatLoads) {
  make({ringAllReduce(2, true)});
  for (bool inGroup : {false, true}) {
    gc3Comm_t &comm = comms[inGroup];
    fake.whileAsked = [&] {
      EXPECT_EQ(gc3CommAbort(std::exchange(comm, nullptr)), gc3Success) << "null after the first time";
    };
    gc3Result_t result = gc3Success;
    if (inGroup) {
      gc3GroupStart();
      EXPECT_EQ(allReduce(inGroup), gc3Success);
      result = gc3GroupEnd();
    } else {
      result = allReduce(inGroup);
    }
    EXPECT_EQ(comm, nullptr);
    EXPECT_EQ(result, gc3InvalidUsage);
    EXPECT_STREQ(gc3GetLastError(nullptr), "the communicator was aborted");
  }
  fake.whileAsked = nullptr;
  leaks = "4 pieces of memory 2 pieces of pinned memory 1 streams 2 pieces of symmetric memory "; // as documented
}

/// In their order, whatever becomes of those before them: other threads may make them one by one.
TEST_F(LsaApi, GroupsGoOnBehindACallThatFails) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  fake.launchedOn.clear();
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank), gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllGather(buffers[rank], buffers[rank], 1, gc3Float32, comms[rank], streams[rank]), gc3Success);
  for (size_t rank : {1, 0})
    EXPECT_EQ(allReduce(rank), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3NoProgram);
  EXPECT_EQ(fake.launchedOn, (std::vector{streams[0], streams[1], streams[1], streams[0]}));
}

/// Other ranks may have made it, so the next call would meet theirs.
TEST_F(LsaApi, ACallThatIsLostForWantOfMemoryBreaksItsRank) {
  static bool isFull; // a table's functions have no state
  isFull = true;
  cuda.capture = [](uint64_t *capture, cuda::Stream stream) {
    return isFull ? throw std::bad_alloc() : FakeCuda::table().capture(capture, stream);
  };
  make({ringAllReduce(2, true)});
  EXPECT_EQ(allReduce(0), gc3SystemError);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "out of memory");
  isFull = false;
  EXPECT_EQ(allReduce(0), gc3SystemError);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "no memory");
  gc3Result_t state = gc3Success;
  EXPECT_EQ(gc3CommGetAsyncError(comms[0], &state), gc3Success);
  EXPECT_EQ(state, gc3SystemError);
  EXPECT_EQ(fake.launches, 0u);
}

/// Whichever communicator it is of.
TEST_F(LsaApi, GroupsGiveTheirFirstError) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  const std::vector<gc3Comm_t> first = comms;
  make({ringAllReduce(2, true)});
  gc3GroupStart();
  for (size_t rank : {0, 1}) // good
    EXPECT_EQ(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, gc3Sum, first[rank], streams[rank]),
              gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllGather(buffers[rank], buffers[rank], 1, gc3Float32, comms[rank], streams[rank]), gc3Success);
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3AllReduce(nullptr, nullptr, count, gc3Float32, gc3Sum, first[rank], streams[rank]), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3NoProgram);
  for (gc3Comm_t comm : first)
    gc3CommDestroy(comm);
}

/// Calls of the thread's group on it are not made.
TEST_F(LsaApi, AbortWhileAGroupIsOpen) {
  make({ringAllReduce(2, true)});
  ASSERT_EQ(allReduceAll(), gc3Success);
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank), gc3Success);
  EXPECT_EQ(gc3CommAbort(std::exchange(comms[1], nullptr)), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "the communicator was aborted or destroyed");
  EXPECT_EQ(fake.launches, 2u);
  leaks = "3 pieces of memory 1 pieces of pinned memory 1 pieces of symmetric memory 1 windows "; // as documented
}

TEST(LsaInit, Arguments) {
  const std::string bytes = buildBundle({ringAllReduce(2, true)});
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  int some = 0;
  gc3Comm_t comm = nullptr;
  EXPECT_EQ(gc3CommInit(nullptr, bundle, &some, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommInit(&comm, nullptr, &some, nullptr), gc3InvalidArgument);
  EXPECT_EQ(gc3CommInit(&comm, bundle, nullptr, nullptr), gc3InvalidArgument);
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  for (size_t size : {size_t{0}, offsetof(gc3GpuConfig_t, tuning) + 1, offsetof(gc3GpuConfig_t, tunerData),
                      sizeof config - 1, sizeof config + 1}) {
    config.size = size;
    EXPECT_EQ(gc3CommInit(&comm, bundle, &some, &config), gc3InvalidArgument);
    EXPECT_STREQ(gc3GetLastError(nullptr),
                 "the config was not initialised with GC3_GPU_CONFIG_INITIALIZER or is of another version of gc3");
  }
  if (!cuda::linkedCuda()) {
    EXPECT_EQ(gc3CommInit(&comm, bundle, &some, nullptr), gc3InvalidUsage);
    EXPECT_STREQ(gc3GetLastError(nullptr), "this gc3 was built without CUDA");
    gc3GroupStart();
    EXPECT_EQ(gc3CommInit(&comm, bundle, &some, nullptr), gc3Success) << "noted";
    EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  }
  EXPECT_EQ(comm, nullptr);
  gc3BundleFree(bundle);
}

} // namespace
