// SPDX-License-Identifier: Apache-2.0
// Calls AllReduce of the installed NCCL with all ranks on one GPU, if NCCL allows this (2.30.3 and later,
// experimentally).
#pragma once

#include "Gc3Calls.h"
#include "InstalledNccl.h"

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace bench {

class NcclCalls {
public:
  ~NcclCalls();
  NcclCalls() = default;
  NcclCalls(const NcclCalls &) = delete;
  NcclCalls &operator=(const NcclCalls &) = delete;

  /// Creates the communicators. Returns the reason why NCCL cannot be measured here, or an empty string. Finds NCCL on
  /// the loader's search path, or at GC3_NCCL_LIB.
  std::string make(uint32_t ranks);
  /// Enqueues a sum of floats, in place in the outputs, after earlier work on the stream and before later work.
  void allReduce(const Buffers &buffers, size_t count, cudaStream_t stream);
  const std::string &version() const { return shownVersion; }

private:
  void check(int result) const;

  gc3::test::InstalledNccl nccl;
  std::string shownVersion;
  std::vector<void *> comms;
  std::vector<cudaStream_t> streams;
  std::vector<cudaEvent_t> joined; ///< indexed by rank
  cudaEvent_t begun = nullptr;
};

} // namespace bench
