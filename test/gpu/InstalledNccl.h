// SPDX-License-Identifier: Apache-2.0
// The NCCL that is installed, for tests and benchmarks that call it: found when they run, so that they build without.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace gc3::test {

/// NCCL's functions, as a program that is linked to it would find them: in a library that was loaded before it first.
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

  /// Why there is none, or an empty string. GC3_NCCL_LIB may name it.
  std::string find();
};

/// From this version on there are windows that programs can use.
inline constexpr int firstWithWindows = 22807;
/// From this version on ranks may share a GPU, if NCCL_MULTI_RANK_GPU_ENABLE is set.
inline constexpr int severalRanksOnAGpu = 23003;

/// Before the first communicator is made: has NCCL allow so many on a GPU, and no more thread blocks to each than all
/// can have there at once, as they wait for each other. What the environment says comes first.
void shareGpu(int ranks);

} // namespace gc3::test
