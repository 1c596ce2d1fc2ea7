// SPDX-License-Identifier: Apache-2.0
// Loads the installed NCCL at run time, so that tests and benchmarks build without it.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace gc3::test {

/// NCCL's functions. As in a program that is linked to NCCL, functions of a preloaded library have priority.
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

  /// Loads NCCL, from the path GC3_NCCL_LIB if it is set. Returns an error message, or an empty string.
  std::string find();
};

/// First version with windows that programs can use.
inline constexpr int firstWithWindows = 22807;
/// First version in which ranks can share a GPU, if NCCL_MULTI_RANK_GPU_ENABLE is set.
inline constexpr int severalRanksOnAGpu = 23003;

/// Allows `ranks` ranks of NCCL on a GPU, and limits the thread blocks of each so that the thread blocks of all ranks
/// fit at once, because they wait for each other. Variables that are set already keep their values. Call before
/// creating a communicator.
void shareGpu(int ranks);

} // namespace gc3::test
