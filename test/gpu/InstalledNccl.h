// SPDX-License-Identifier: Apache-2.0
// Loads the installed NCCL at run time, so that tests and benchmarks can be built without NCCL.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace gc3::test {

/// NCCL's functions. A function of a preloaded interposer replaces NCCL's, as in a program that is linked with NCCL.
struct InstalledNccl {
  int version = 0;
  int (*commInitAll)(void **, int, const int *) = nullptr;
  int (*commDestroy)(void *) = nullptr;
  int (*groupStart)() = nullptr;
  int (*groupEnd)() = nullptr;
  int (*allReduce)(const void *, void *, size_t, int, int, void *, cudaStream_t) = nullptr;
  int (*allGather)(const void *, void *, size_t, int, void *, cudaStream_t) = nullptr;
  int (*reduceScatter)(const void *, void *, size_t, int, int, void *, cudaStream_t) = nullptr;
  int (*alltoAll)(const void *, void *, size_t, int, void *, cudaStream_t) = nullptr;
  const char *(*getErrorString)(int) = nullptr;

  /// Loads NCCL from the path in the environment variable GC3_NCCL_LIB, or libnccl.so.2 if the variable is not set.
  /// Returns an error message, or an empty string.
  std::string find();
};

/// The first NCCL version whose windows gc3 can use.
inline constexpr int firstWithWindows = 22807;
/// The first NCCL version that lets ranks share a GPU, if NCCL_MULTI_RANK_GPU_ENABLE is set.
inline constexpr int severalRanksOnAGpu = 23003;

/// Sets environment variables that let `ranks` ranks share GPU 0. NCCL's kernels of these ranks wait for each other, so
/// the thread blocks of all ranks must fit on the GPU at once. For this, the function also limits the thread blocks of
/// a rank. Variables that are already set keep their values. Call it before a communicator is created.
void shareGpu(int ranks);

} // namespace gc3::test
