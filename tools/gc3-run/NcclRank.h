// SPDX-License-Identifier: Apache-2.0
// This process's rank of an NCCL communicator, and its GPU.
#pragma once

#include "Job.h"

#include "cuda/Cuda.h"
#include "ncclapi/Abi.h"

namespace gc3::run {

class NcclRank {
public:
  explicit NcclRank(const cuda::Cuda &linked) : cuda(linked) {}
  /// Destroys the NCCL communicator. Destroy its gc3 communicators first.
  ~NcclRank();
  NcclRank(const NcclRank &) = delete;
  NcclRank &operator=(const NcclRank &) = delete;

  /// Finds the installed NCCL. Makes the GPU of this process the current one: among the processes of a host, process n
  /// has GPU n. If NCCL lets ranks share a GPU, it has GPU n modulo the number of GPUs. One process is an error,
  /// because gc3 does not run programs on one rank. Like the next functions, returns an error message or an empty
  /// string.
  std::string prepare(const Job &job);
  /// Joins the ranks of all processes, which all call it. Process n is rank n.
  std::string join(Job &job);
  /// Ends the work of this rank that waits for other ranks. Afterwards the communicator does not exist.
  void abort();

  ncclapi::Comm comm() const { return communicator; }
  int device() const { return gpu; }
  /// Returns NCCL's version, such as "2.28.7".
  std::string version() const;

  /// Returns an error message for NCCL's result of `doing`, or an empty string. Waits for the result if NCCL has not
  /// completed the call, as in a communicator that does not block.
  std::string settle(ncclapi::Result result, const std::string &doing) const;

private:
  const cuda::Cuda &cuda;
  ncclapi::Comm communicator = nullptr;
  int gpu = 0, ncclVersion = 0;
};

} // namespace gc3::run
