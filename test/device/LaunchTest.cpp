// SPDX-License-Identifier: Apache-2.0
// Tests the arguments that launches and occupancy queries pass to the CUDA runtime, and how they treat its errors.
#include "cuda/Launch.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

using namespace gc3;

namespace {

/// Descriptions of the last call and the last loaded kernel.
std::string described, loaded;
cudaError_t answer = cudaSuccess, loading = cudaSuccess;
int errorsCleared = 0;
cudaStreamCaptureMode captureMode = cudaStreamCaptureModeGlobal; ///< capture mode of the thread
bool loadedRelaxed = false;

std::string describe(const cudaLaunchConfig_t &config) {
  std::string text = std::to_string(config.gridDim.x) + " blocks of " + std::to_string(config.blockDim.x);
  for (unsigned i = 0; i < config.numAttrs; ++i)
    text += config.attrs[i].id == cudaLaunchAttributeCooperative && config.attrs[i].val.cooperative == 1
                ? ", cooperative"
                : ", something else";
  return text;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): these are CUDA's names
extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  described = describe(*config) + ", " + static_cast<const char *>(kernel) + " of " +
              static_cast<const char *>(*arguments) + " on " + reinterpret_cast<const char *>(config->stream);
  return answer;
}
extern "C" cudaError_t cudaGetLastError() {
  ++errorsCleared;
  return cudaSuccess;
}
extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                                     size_t dynamic) {
  described = static_cast<const char *>(kernel);
  *blocks = threads + static_cast<int>(dynamic);
  return answer;
}
extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *kernel) {
  loaded = static_cast<const char *>(kernel);
  loadedRelaxed = captureMode == cudaStreamCaptureModeRelaxed;
  return loading;
}
extern "C" cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  std::swap(captureMode, *mode);
  return cudaSuccess;
}
// NOLINTEND(readability-identifier-naming)

namespace {

/// Blocks of the interpreter wait for each other, so all of them must be resident at once. Copy kernels do not need
/// this.
TEST(Launch, IsCooperativeWhereBlocksWait) {
  char kernel[] = "kernel", value[] = "value", stream[] = "stream";
  void *arguments[] = {value};
  cuda::Launch launch{kernel, 7, 64, arguments, reinterpret_cast<cuda::Stream>(stream), true};
  EXPECT_EQ(cuda::launch(launch), cudaSuccess);
  EXPECT_EQ(described, "7 blocks of 64, cooperative, kernel of value on stream");
  launch.cooperative = false;
  EXPECT_EQ(cuda::launch(launch), cudaSuccess);
  EXPECT_EQ(described, "7 blocks of 64, kernel of value on stream");
}

/// The query must load the kernel: if the launch loaded it, CUDA could wait for a running kernel.
TEST(Launch, OccupancyQueriesLoadKernels) {
  char kernel[] = "kernel";
  int blocks = 0;
  EXPECT_EQ(cuda::occupancy(&blocks, kernel, 96), cudaSuccess);
  EXPECT_EQ(loaded, "kernel");
  EXPECT_TRUE(loadedRelaxed) << "in relaxed capture mode";
  EXPECT_EQ(captureMode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(blocks, 96);
  errorsCleared = blocks = 0;
  loading = cudaErrorMemoryAllocation;
  EXPECT_EQ(cuda::occupancy(&blocks, kernel, 96), cudaErrorMemoryAllocation);
  EXPECT_EQ(errorsCleared, 1);
  EXPECT_EQ(blocks, 0);
  loading = cudaSuccess;
}

/// gc3 must clear the errors of its own calls, or cudaGetLastError would return them to the application.
TEST(Launch, ClearsErrors) {
  char kernel[] = "kernel", stream[] = "stream";
  void *arguments[] = {kernel};
  errorsCleared = 0;
  answer = cudaErrorInvalidValue;
  EXPECT_EQ(cuda::launch({kernel, 1, 32, arguments, reinterpret_cast<cuda::Stream>(stream), true}),
            cudaErrorInvalidValue);
  int blocks = 0;
  EXPECT_EQ(cuda::occupancy(&blocks, kernel, 96), cudaErrorInvalidValue);
  EXPECT_EQ(blocks, 96);
  EXPECT_EQ(errorsCleared, 2);
  answer = cudaSuccess;
  EXPECT_EQ(cuda::occupancy(&blocks, kernel, 96), cudaSuccess);
  EXPECT_EQ(errorsCleared, 2);
}

} // namespace
