// SPDX-License-Identifier: Apache-2.0
// The communicators of a Runner: those of this process's ranks.
#include "Runner.h"

#include "trace/RankFiles.h"

namespace gc3::run {

std::string Runner::lastError(const char *what, gc3Result_t result, gc3Comm_t comm) const {
  std::string text = gc3GetLastError(comm);
  return std::string(what) + (*what ? ": " : "") + (text.empty() ? gc3GetErrorString(result) : text);
}

void Runner::destroyCommunicators() {
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  comms.clear();
}

gc3GpuConfig_t Runner::gpuConfig(const char *trace) const {
  gc3GpuConfig_t config = GC3_GPU_CONFIG_INITIALIZER;
  config.slots = options.host.slots;
  config.slotBytes = options.host.slotBytes;
  config.allowUnproven = options.host.allowUnproven;
  config.nodes = options.host.nodes;
  config.trace = trace;
  return config;
}

/// Creates communicators of all ranks on the current GPU.
gc3Result_t Runner::initGpu(int ranks, const char *trace) {
  const gc3GpuConfig_t config = gpuConfig(trace);
  gpu = std::make_unique<Gpu>(*cuda::linkedCuda(), inputs, outputs);
  return gc3LoopbackCommInitAll(comms.data(), ranks, bundle, &config);
}

/// Creates the communicator of this process's rank on its own GPU.
gc3Result_t Runner::initNccl(const char *trace) {
  const gc3GpuConfig_t config = gpuConfig(trace);
  gpu = std::make_unique<Gpu>(*cuda::linkedCuda(), inputs, outputs);
  return gc3CommInit(comms.data(), bundle, nccl->comm(), &config);
}

/// Creates communicators of the own ranks on the host, under an id that process 0 has made.
gc3Result_t Runner::initHost(int ranks, const char *trace, const gc3UniqueId_t &id) {
  gc3HostConfig_t config = options.host;
  config.trace = trace;
  if (job.processes() == 1)
    return gc3HostCommInitAll(comms.data(), ranks, bundle, &config);
  gc3Result_t result = gc3GroupStart();
  for (uint32_t i = 0; i < own.size() && result == gc3Success; ++i)
    result = gc3HostCommInitRank(&comms[i], ranks, id, static_cast<int>(own.first + i), bundle, &config);
  const gc3Result_t ended = gc3GroupEnd();
  return result == gc3Success ? ended : result;
}

std::string Runner::shareHostId(gc3UniqueId_t &id) {
  if (options.backend != Backend::Host || job.processes() == 1)
    return {};
  return shareId(job, id, [&](gc3UniqueId_t &made) {
    const gc3Result_t result = gc3GetUniqueId(&made);
    return result == gc3Success ? "" : lastError("", result, nullptr);
  });
}

gc3Result_t Runner::init(int ranks, const char *trace, const gc3UniqueId_t &id) {
  switch (options.backend) {
  case Backend::Host: return initHost(ranks, trace, id);
  case Backend::Cuda: return initGpu(ranks, trace);
  case Backend::Nccl: return initNccl(trace);
  }
  __builtin_unreachable();
}

std::string Runner::communicators(int ranks, bool isTraced) {
  destroyCommunicators();
  own = job.ownRanks(static_cast<uint32_t>(ranks));
  areTraced = isTraced;
  if (options.backend == Backend::Cuda && options.ranksPerGpu != 0 &&
      options.ranksPerGpu != static_cast<uint64_t>(ranks))
    return "programs on " + std::to_string(ranks) + " ranks do not run with " + std::to_string(options.ranksPerGpu) +
           " ranks per GPU; all ranks must share one GPU";
  gc3UniqueId_t id{};
  if (std::string problem = shareHostId(id); !problem.empty())
    return problem;
  comms.assign(own.size(), nullptr);
  const char *trace = isTraced ? options.trace.c_str() : ""; // an empty name overrides GC3_TRACE
  const gc3Result_t result = init(ranks, trace, id);
  if (result == gc3Success)
    return {};
  comms.clear();
  std::string problem = lastError("", result, nullptr);
  return result == gc3BundleUnproven ? problem + " or --allow-unproven 1" : problem;
}

/// Traces the first sizes of a collective only, because a trace has some 350 bytes for each instruction, tile and call.
std::string Runner::chooseTrace(int ranks, uint64_t sizesBefore) {
  const bool isTraced = !options.trace.empty() && sizesBefore < options.tracedSizes;
  leavesTraceOut |= !options.trace.empty() && !isTraced;
  return isTraced == areTraced ? "" : communicators(ranks, isTraced);
}

/// Returns this process's trace file. Returns null if it cannot be written. Only if a trace was requested.
trace::TraceFile *Runner::traceFile() const {
  if (!nccl && job.processes() == 1)
    return trace::TraceFile::named(options.trace);
  return trace::fileOfGpu(options.trace, nccl ? nccl->device() : trace::noGpu,
                          {own.first, job.processes() * own.size(), trace::wallClock()});
}

} // namespace gc3::run
