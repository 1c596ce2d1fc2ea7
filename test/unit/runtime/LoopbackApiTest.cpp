// SPDX-License-Identifier: Apache-2.0
// Tests the C API on the fake GPU.
#include "LoopbackSupport.h"
#include "Programs.h"
#include "api/Handles.h"
#include "api/LoopbackBackend.h"

using namespace gc3;
using namespace gc3::test;

namespace {

/// Communicators that share the fake GPU.
class LoopbackApi : public testing::Test {
protected:
  void make(const ProgramSpec &spec, uint32_t timeoutMs = 0) {
    cuda::Options options = smallOptions();
    options.timeoutMs = timeoutMs;
    make({spec}, options);
  }
  void make(const std::vector<ProgramSpec> &specs, const cuda::Options &options) {
    const auto ranks = static_cast<uint32_t>(specs[0].ranks.size());
    const auto backend = api::LoopbackBackend::make(cuda, open(specs), ranks, options);
    ASSERT_TRUE(backend.ok()) << backend.outcome().text;
    const Monitor::Lock lock; // a watchdog thread can use the fake at the same time
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      comms.push_back(new gc3Comm{*backend, rank, {}});
      buffers.push_back(reinterpret_cast<float *>(fake.allocate(count * sizeof(float))));
      std::fill_n(buffers.back(), count, static_cast<float>(rank + 1));
    }
  }
  void TearDown() override {
    for (gc3Comm_t comm : comms)
      gc3CommDestroy(comm);
    for (float *buffer : buffers)
      fake.release(reinterpret_cast<std::byte *>(buffer));
    EXPECT_EQ(fake.leaks(), "");
  }
  gc3Result_t allReduce(size_t rank, gc3Stream_t stream = nullptr) {
    return gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, gc3Sum, comms[rank], stream);
  }

  static constexpr size_t count = 10;
  FakeCuda fake;
  const cuda::Cuda cuda = FakeCuda::table();
  std::vector<gc3Comm_t> comms;
  std::vector<float *> buffers;
};

TEST_F(LoopbackApi, AllRanksInOneGroup) {
  make(ringAllReduce(3, true));
  int ranks = 0;
  EXPECT_EQ(gc3CommCount(comms[1], &ranks), gc3Success);
  EXPECT_EQ(ranks, 3);
  for (float expected : {6.0f, 18.0f}) {
    gc3GroupStart();
    for (size_t rank : {2, 0, 1})
      EXPECT_EQ(allReduce(rank), gc3Success);
    EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    for (float *buffer : buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, expected));
  }
  gc3Result_t result = gc3InternalError;
  EXPECT_EQ(gc3CommGetAsyncError(comms[0], &result), gc3Success);
  EXPECT_EQ(result, gc3Success);
  EXPECT_EQ(gc3CommGetAsyncError(comms[0], nullptr), gc3InvalidArgument);
}

TEST_F(LoopbackApi, CustomReductions) {
  make(ringAllReduce(3, true));
  for (float scale : {1.0f, 2.0f}) {
    for (size_t rank = 0; rank < 3; ++rank)
      std::fill_n(buffers[rank], count, 1.0f);
    gc3GroupStart();
    for (size_t rank : {2, 0, 1}) {
      float scalar = scale * static_cast<float>(rank + 1);
      gc3RedOp_t op = gc3Sum;
      EXPECT_EQ(gc3RedOpCreatePreMulSum(&op, &scalar, gc3Float32, gc3ScalarHostImmediate, comms[rank]), gc3Success);
      EXPECT_EQ(gc3AllReduce(buffers[rank], buffers[rank], count, gc3Float32, op, comms[rank], nullptr), gc3Success);
      EXPECT_EQ(gc3RedOpDestroy(op, comms[rank]), gc3Success);
    }
    EXPECT_EQ(gc3GroupEnd(), gc3Success) << gc3GetLastError(nullptr);
    for (float *buffer : buffers)
      EXPECT_EQ(std::vector<float>(buffer, buffer + count), std::vector<float>(count, 6 * scale));
  }
}

TEST_F(LoopbackApi, AloneOrOnOtherStreams) {
  make(ringAllReduce(2, true));
  EXPECT_EQ(allReduce(0), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[0]), "a call of 1 of 2 ranks; ranks that share a GPU must call in one group");
  int streams[2];
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(allReduce(rank, &streams[rank]), gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(comms[1]), "the ranks' streams differ; ranks that share a GPU must call on one stream");
  EXPECT_EQ(fake.launches, 0u);
}

TEST_F(LoopbackApi, UsersChooseThePrograms) {
  cuda::Options options = smallOptions();
  options.choice.tuner = [](const gc3TunerCall_t *call, void *) { return call->programCount - 1; };
  make({ringAllReduce(2, true), plainRingAllReduce(2), allGather(2, false)}, options);
  const char *program = nullptr;
  EXPECT_EQ(gc3SelectProgram(comms[0], "allreduce", count, gc3Float32, -1, &program), gc3Success);
  EXPECT_EQ(program, plainRingAllReduce(2).name);
  options.choice.programs = "no such program";
  const auto file = open({ringAllReduce(2, true)});
  EXPECT_EQ(cuda::LoopbackWorld::make(FakeCuda::table(), *file, 2, options).outcome().code, gc3InvalidArgument);
}

TEST_F(LoopbackApi, AStuckKernelIsAnAsyncError) {
  make(deadlock(), 1);
  gc3GroupStart();
  for (size_t rank : {0, 1})
    EXPECT_EQ(gc3RunProgram(comms[rank], "deadlock", buffers[rank], buffers[rank], count, gc3Float32, gc3Sum, nullptr),
              gc3Success);
  EXPECT_EQ(gc3GroupEnd(), gc3Success);
  gc3Result_t result = gc3Success;
  while (result == gc3Success) // the kernel never ends by itself
    EXPECT_EQ(gc3CommGetAsyncError(comms[0], &result), gc3Success);
  EXPECT_EQ(result, gc3Timeout);
  EXPECT_EQ(std::string(gc3GetLastError(comms[0])).find("a kernel has not ended in 1 ms"), 0u);
}

TEST(LoopbackInit, BuildsWithoutCuda) {
  if (cuda::linkedCuda())
    GTEST_SKIP() << "this build has CUDA";
  const std::string bytes = buildBundle({ringAllReduce(2, true)});
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[2];
  EXPECT_EQ(gc3LoopbackCommInitAll(comms, 2, bundle, nullptr), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(nullptr), "this gc3 was built without CUDA");
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  config.size = 0;
  EXPECT_EQ(gc3LoopbackCommInitAll(comms, 2, bundle, &config), gc3InvalidArgument);
  EXPECT_EQ(gc3LoopbackCommInitAll(comms, 0, bundle, nullptr), gc3InvalidArgument);
  gc3BundleFree(bundle);
}

} // namespace
