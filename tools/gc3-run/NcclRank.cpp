// SPDX-License-Identifier: Apache-2.0
#include "NcclRank.h"

#include "job/Identity.h"
#include "ncclapi/Installed.h"
#include "ncclapi/Nccl.h"

#include <cstdlib>
#include <thread>

namespace gc3::run {

using ncclapi::callInstalled;
using ncclapi::Function;
using ncclapi::Result;

namespace {

/// Returns true if the user lets ranks share a GPU, which NCCL does from 2.30.3 on.
bool mayShareGpus() {
  const char *value = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return value && std::atoi(value) != 0;
}

/// Makes GPU `gpu` of this host the current one. If processes share GPUs, first replaces `gpu` by the one that serves
/// process `gpu` of the host.
std::string chooseGpu(const cuda::Cuda &cuda, int &gpu, uint32_t processes) {
  int gpus = 0;
  core::Outcome outcome = outcomeOf(cuda, cuda.deviceCount(&gpus), "counting GPUs");
  if (!outcome.ok())
    return "--backend nccl needs an NVIDIA GPU: " + outcome.text;
  if (static_cast<uint32_t>(gpus) < processes && !(mayShareGpus() && gpus > 0))
    return "--backend nccl needs a GPU for each process, but host " + job::identifyThisProcess().hostName + " has " +
           std::to_string(gpus) + " for " + std::to_string(processes) +
           " processes; NCCL 2.30.3 and later let them share GPUs with NCCL_MULTI_RANK_GPU_ENABLE=1";
  gpu %= gpus;
  return outcomeOf(cuda, cuda.setDevice(gpu), "choosing GPU " + std::to_string(gpu)).text;
}

} // namespace

NcclRank::~NcclRank() {
  if (communicator)
    (void)callInstalled<Function::CommDestroy>(communicator);
}

std::string NcclRank::prepare(const Job &job) {
  gpu = static_cast<int>(job.onHost().process);
  if (std::string problem = chooseGpu(cuda, gpu, job.onHost().processes); !problem.empty())
    return problem;
  if (job.processes() == 1)
    return "--backend nccl has one rank in each process, and needs two processes or more; start as many as the program "
           "has ranks, with --processes or a launcher such as mpirun";
  ncclapi::Nccl found;
  const core::Outcome outcome = ncclapi::Nccl::find(ncclapi::findInstalled, found);
  ncclVersion = found.version;
  return outcome.ok() ? "" : "--backend nccl needs NCCL: " + outcome.text;
}

std::string NcclRank::join(Job &job) {
  ncclapi::UniqueId id{};
  std::string problem = shareId(job, id, [&](ncclapi::UniqueId &made) {
    return settle(callInstalled<Function::GetUniqueId>(&made), "ncclGetUniqueId");
  });
  if (!problem.empty())
    return problem;
  const Result result = callInstalled<Function::CommInitRank>(&communicator, static_cast<int>(job.processes()), id,
                                                              static_cast<int>(job.process()));
  return job.agree(settle(result, "ncclCommInitRank"));
}

void NcclRank::abort() {
  if (communicator)
    (void)callInstalled<Function::CommAbort>(std::exchange(communicator, nullptr));
}

std::string NcclRank::version() const {
  return std::to_string(ncclVersion / 10000) + "." + std::to_string(ncclVersion / 100 % 100) + "." +
         std::to_string(ncclVersion % 100);
}

std::string NcclRank::settle(Result result, const std::string &doing) const {
  while (result == Result::InProgress) {
    std::this_thread::yield();
    if (callInstalled<Function::CommGetAsyncError>(communicator, &result) != Result::Success)
      return doing + ": NCCL can't report the state of the communicator";
  }
  const core::Outcome outcome = ncclapi::outcomeOf(result, doing);
  return outcome.ok() ? "" : outcome.text + "; NCCL_DEBUG=WARN shows why";
}

} // namespace gc3::run
