// SPDX-License-Identifier: Apache-2.0
// The ranks of a bundle's programs on one GPU, all in one process: R ranks are R partitions of one cooperative launch.
// Calls are ordered by streams, as CUDA's own are; those of one world run one after the other, as they share FIFOs.
#pragma once

#include "cuda/Options.h"
#include "cuda/Recorder.h"
#include "cuda/Runner.h"

#include <memory>
#include <mutex>
#include <span>

namespace gc3::cuda {

class LoopbackWorld {
public:
  /// On the thread's current device. The bundle and the table have to stay.
  static core::Result<std::unique_ptr<LoopbackWorld>> make(const Cuda &cuda, const bundle::BundleFile &file,
                                                           uint32_t ranks, const Options &options);
  ~LoopbackWorld();
  LoopbackWorld(const LoopbackWorld &) = delete;
  LoopbackWorld &operator=(const LoopbackWorld &) = delete;

  /// A call of all ranks, one request by rank, with buffers in device memory; it has ended when the stream has. A call
  /// that is captured into a graph has to have what it needs: an earlier one of the same program. Of
  /// calls that are replayed the order is the caller's business, and nobody records them. A call that is
  /// recorded has ended when this returns.
  core::Outcome call(std::span<const core::Request> requests, Stream stream);

  /// The program that such a call would run.
  core::Result<const char *> select(const core::Request &request);

  /// Looks after the kernels under way, if there is a timeout: one that runs for longer is stopped. Not ok: a call has
  /// been stopped, or has failed. The world is of no use then, since connections are in the middle of messages.
  core::Outcome watch(Watchdog::Clock::time_point now);
  void patrol() { runner.patrol(); } ///< as Runner::patrol
  uint32_t timeoutMs() const { return options.timeoutMs; }

private:
  LoopbackWorld(const Cuda &cuda, const bundle::BundleFile &file, uint32_t rankCount, const Options &chosen,
                core::Choice choice)
      : cuda(cuda), options(chosen), ranks(rankCount),
        selection(file, rankCount, chosen.allowUnproven, std::move(choice)),
        runner(cuda, chosen.timeoutMs, chosen.mixesGraphs) {}
  core::Outcome put(std::span<const core::Request> requests, Stream stream);
  core::Result<const GpuProgram *> find(const core::Request &request, bool captured);
  core::Result<const GpuProgram *> load(const core::LoadedProgram &chosen);
  core::Result<DeviceMemory> reserveFifos(const plan::ConnectionPool &pool, const std::string &name);

  const Cuda &cuda;
  const Options options;
  const uint32_t ranks;
  std::mutex mutex; ///< guards what follows
  core::Selection selection;
  std::vector<DeviceMemory> fifos; ///< of programs
  Runner runner;
  std::optional<Recorder> recorder; ///< not guarded; goes first, while its programs are there
};

} // namespace gc3::cuda
