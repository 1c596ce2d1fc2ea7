// SPDX-License-Identifier: Apache-2.0
// All ranks of a real NCCL communicator in one process. Each rank has a stream and buffers. Makes collective calls, and
// compares their results with the expected ones.
#pragma once

#include "InstalledNccl.h"
#include "gc3.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gc3::test {

enum class JobCollective { AllReduce, AllGather, ReduceScatter, AllToAll };
inline constexpr JobCollective jobCollectives[] = {JobCollective::AllReduce, JobCollective::AllGather,
                                                   JobCollective::ReduceScatter, JobCollective::AllToAll};
const char *nameOf(JobCollective collective);

class NcclJob {
public:
  explicit NcclJob(const InstalledNccl &installed) : nccl(installed) {}
  ~NcclJob();
  NcclJob(const NcclJob &) = delete;
  NcclJob &operator=(const NcclJob &) = delete;

  /// Creates rank r on GPU `devices[r]`, for each r, with buffers for calls of up to `mostCount` elements. This
  /// function and the following ones return an error message, or an empty string.
  std::string make(const std::vector<int> &devices, size_t mostCount);
  /// Creates a gc3 communicator for each rank. Later calls use the gc3 communicators and not NCCL.
  std::string attach(gc3Bundle_t bundle);

  /// Makes a call on all ranks, waits until it has completed, and compares its results.
  std::string callAndCompare(JobCollective collective, size_t count, bool inPlace);
  /// Captures a call and replays it several times. callAndCompare() must have made such a call before the capture.
  std::string replayAndCompare(JobCollective collective, size_t count);

private:
  struct Rank {
    int device = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t joined = nullptr;
    int32_t *send = nullptr, *recv = nullptr;
    void *comm = nullptr;
    gc3Comm_t gc3 = nullptr;
  };
  size_t sendElements(JobCollective collective, size_t count) const;
  size_t recvElements(JobCollective collective, size_t count) const;
  /// Returns the send and receive addresses of rank `number`.
  std::pair<int32_t *, int32_t *> buffers(const Rank &rank, size_t number, JobCollective collective, size_t count,
                                          bool inPlace) const;
  std::string fill(JobCollective collective, size_t count, bool inPlace);
  std::string call(JobCollective collective, size_t count, bool inPlace);
  std::string callRank(size_t number, JobCollective collective, size_t count, bool inPlace);
  std::string synchronize();
  std::string compare(JobCollective collective, size_t count, bool inPlace);
  std::string capture(const std::function<std::string()> &calls, cudaGraphExec_t &executable);
  std::string forkAndJoin(const std::function<std::string()> &calls);

  const InstalledNccl &nccl;
  std::vector<Rank> ranks;
  cudaEvent_t begun = nullptr;
};

} // namespace gc3::test
