// SPDX-License-Identifier: Apache-2.0
// Ranks of a real NCCL communicator in one process, each with a stream and buffers, and collectives with known results.
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

  /// Creates ranks on the GPUs `devices[r]`, with buffers for calls of up to `mostCount` elements. Like the following
  /// functions, returns an error message or an empty string.
  std::string make(const std::vector<int> &devices, size_t mostCount);
  /// Creates gc3 communicators. Later calls use them.
  std::string attach(gc3Bundle_t bundle);

  /// Makes a call on all ranks, waits for it, and compares its results.
  std::string callAndCompare(JobCollective collective, size_t count, bool inPlace);
  /// Captures a call and replays it several times. The call must have been made before.
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
  /// Returns the addresses from which a rank reads and to which it writes.
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
