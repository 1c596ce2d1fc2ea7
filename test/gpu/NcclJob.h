// SPDX-License-Identifier: Apache-2.0
// Ranks of a real NCCL communicator in one process, each with a stream and buffers, and collectives on them whose
// results are known.
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

  /// Ranks on the GPUs `devices[r]`, with room for calls of up to `mostCount` elements. What went wrong, or an empty
  /// string, as of all that follow.
  std::string make(const std::vector<int> &devices, size_t mostCount);
  /// Adds gc3's communicators, with which calls are made from then on.
  std::string attach(gc3Bundle_t bundle);

  /// One call of all ranks, waited for, and its results.
  std::string callAndCompare(JobCollective collective, size_t count, bool inPlace);
  /// The same from a graph, several times; the call has been made before.
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
  /// Where a rank reads and writes.
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
