// SPDX-License-Identifier: Apache-2.0
// gpu-nccl-test BUNDLE...: makes collective calls on the ranks of a real NCCL communicator, through gc3CommInit. A
// communicator has as many ranks as the programs of the bundle, which come from nccl.gc3. With TEST_FRONT=1, calls
// NCCL's functions instead, to test the interposer with LD_PRELOAD. Without a BUNDLE, only checks that there are a GPU
// and an NCCL. If there are enough GPUs, each rank has its own GPU. Otherwise all ranks share the first GPU, which NCCL
// 2.30.3 and later allow. The exit status is 77 if there is no GPU or no NCCL.
#include "NcclJob.h"

#include <cstdio>
#include <cstdlib>

using namespace gc3::test;

namespace {

constexpr int skipped = 77;
constexpr size_t mostCount = 1 << 20;

/// Returns the GPU number of each rank, or an empty list if this machine can't run `ranks` ranks.
std::vector<int> devicesFor(int ranks, int gpus, int version) {
  std::vector<int> devices(static_cast<size_t>(ranks), 0);
  if (ranks <= gpus)
    for (int i = 0; i < ranks; ++i)
      devices[static_cast<size_t>(i)] = i;
  else if (ranks > 1 && version < severalRanksOnAGpu)
    devices.clear();
  return devices;
}

std::string callAll(NcclJob &job, bool hasAllToAll) {
  for (JobCollective collective : jobCollectives) {
    if (collective == JobCollective::AllToAll && !hasAllToAll)
      continue;
    std::string problem;
    for (size_t count : {size_t{1}, size_t{0}, size_t{7}, size_t{1000}, size_t{100003}, mostCount, size_t{16}})
      for (bool inPlace : {false, true})
        if (problem.empty() && !(inPlace && collective == JobCollective::AllToAll)) // NCCL has no AllToAll in place
          if (problem = job.callAndCompare(collective, count, inPlace); !problem.empty())
            problem = std::to_string(count) + " elements, " + (inPlace ? "in place: " : "out of place: ") + problem;
    if (problem.empty())
      if (problem = job.replayAndCompare(collective, 100003); !problem.empty())
        problem = "graph: " + problem;
    if (!problem.empty())
      return std::string(nameOf(collective)) + ": " + problem;
  }
  return {};
}

std::string attachAndCallAll(NcclJob &job, gc3Bundle_t bundle) {
  const std::string problem = job.attach(bundle);
  return problem.empty() ? callAll(job, true) : problem;
}

/// gc3CommInit must refuse a communicator of one rank, because NCCL serves it.
std::string expectRefusal(NcclJob &job, gc3Bundle_t bundle) {
  const std::string problem = job.attach(bundle);
  return problem == "gc3CommInit: one rank" ? "" : "gc3CommInit must refuse one rank: " + problem;
}

std::string testBundle(const char *path, const InstalledNccl &nccl, int gpus, bool front, int &run) {
  gc3Bundle_t bundle = nullptr;
  gc3ProgramInfo_t info{};
  info.size = sizeof info;
  if (gc3BundleLoad(&bundle, path) != gc3Success || gc3BundleProgramInfo(bundle, 0, &info) != gc3Success)
    return gc3GetLastError(nullptr);
  const std::vector<int> devices = devicesFor(info.ranks, gpus, nccl.version);
  std::string problem;
  if (devices.empty()) {
    std::printf("SKIPPED: %d ranks: %d GPUs, and NCCL %d does not let them share one\n", info.ranks, gpus,
                nccl.version);
  } else {
    NcclJob job(nccl);
    problem = job.make(devices, mostCount);
    if (problem.empty())
      problem = front             ? callAll(job, nccl.alltoAll != nullptr)
                : info.ranks == 1 ? expectRefusal(job, bundle)
                                  : attachAndCallAll(job, bundle);
    if (problem.empty())
      std::printf("%d ranks on %d GPUs: right\n", info.ranks, info.ranks <= gpus ? info.ranks : 1);
    ++run;
  }
  gc3BundleFree(bundle);
  return problem;
}

} // namespace

int main(int argc, char **argv) {
  int gpus = 0, run = 0;
  if (cudaError_t error = cudaGetDeviceCount(&gpus); error != cudaSuccess || gpus == 0) {
    std::printf("SKIPPED: no GPU (%s): nothing has been run beside a real NCCL\n", cudaGetErrorString(error));
    return skipped;
  }
  shareGpu(8); // the largest number of ranks in the bundles
  InstalledNccl nccl;
  if (std::string problem = nccl.find(); !problem.empty()) {
    std::printf("SKIPPED: no NCCL (%s); GC3_NCCL_LIB may name it\n", problem.c_str());
    return skipped;
  }
  if (nccl.version < firstWithWindows) {
    std::printf("SKIPPED: NCCL %d; programs run beside %d and later\n", nccl.version, firstWithWindows);
    return skipped;
  }
  if (argc == 1)
    return 0;
  const char *front = std::getenv("TEST_FRONT");
  std::printf("NCCL %d, %d GPUs, through %s\n", nccl.version, gpus, front ? "its own functions" : "gc3CommInit");
  for (int i = 1; i < argc; ++i)
    if (std::string problem = testBundle(argv[i], nccl, gpus, front != nullptr, run); !problem.empty())
      return std::fprintf(stderr, "%s: %s\n", argv[i], problem.c_str()), 1;
  return run != 0 ? 0 : skipped;
}
