// SPDX-License-Identifier: Apache-2.0
// Runs all ranks of a bundle's programs on one GPU, in one process. One cooperative launch has the blocks of all ranks.
// Streams order calls, as in CUDA. Calls of one world run one after the other even on different streams, because they
// share FIFOs.
#pragma once

#include "cuda/MeasuredCalls.h"
#include "cuda/OnlineLaunches.h"
#include "cuda/Options.h"
#include "cuda/Recorder.h"
#include "cuda/Runner.h"

#include <memory>
#include <mutex>
#include <span>

namespace gc3::cuda {

class LoopbackWorld {
public:
  /// Uses the thread's current device. `cuda` and `file` must outlive the result.
  static core::Result<std::unique_ptr<LoopbackWorld>> make(const Cuda &cuda, const bundle::BundleFile &file,
                                                           uint32_t ranks, const Options &options);
  ~LoopbackWorld();
  LoopbackWorld(const LoopbackWorld &) = delete;
  LoopbackWorld &operator=(const LoopbackWorld &) = delete;

  /// Enqueues a call of all ranks, with one request per rank and buffers in device memory. The call has ended when the
  /// stream has completed it. A call can be captured into a graph only after an earlier call of the same program, which
  /// loads it. If Options::mixesGraphs is false, the caller must order replays itself. If calls are recorded and the
  /// stream is not captured, the call has ended when this function returns.
  core::Outcome call(std::span<const core::Request> requests, Stream stream);

  /// Returns the name of the program that would serve a call with this request.
  core::Result<const char *> select(const core::Request &request);

  /// Returns whether online selection chooses programs.
  bool isOnline() const { return online.has_value(); }
  /// Return what online selection has done and learned; requires isOnline().
  core::OnlineSelection::Counters tuneCounters();
  select::TuneFile learned();

  /// Checks the running kernels if there is a timeout, and stops a kernel that exceeds it. Returns an error if a call
  /// was stopped or has failed. The world is then unusable, because connections can be in the middle of messages.
  core::Outcome watch(Watchdog::Clock::time_point now);
  void watchOnDevice() { runner.watchOnDevice(); } ///< like Runner::watchOnDevice
  uint32_t timeoutMs() const { return options.timeoutMs; }

private:
  LoopbackWorld(const Cuda &cuda, const bundle::BundleFile &file, uint32_t rankCount, const Options &chosen,
                core::Choice choice)
      : cuda(cuda), options(chosen), ranks(rankCount),
        selection(file, rankCount, chosen.allowUnproven, std::move(choice)),
        runner(cuda, chosen.timeoutMs, chosen.mixesGraphs) {}
  core::Outcome put(std::span<const core::Request> requests, Stream stream);
  core::Outcome startOnline(const bundle::BundleFile &file);
  core::Outcome planCall(std::span<const core::Request> requests, uint64_t capture, Runner::Plan &plan);
  core::Outcome planOnline(const OnlineLaunches::Kind &kind, std::span<const core::Request> requests, uint64_t capture,
                           Runner::Plan &plan);
  core::Result<const GpuProgram *> find(const core::Request &request, bool captured);
  core::Result<const GpuProgram *> load(const core::LoadedProgram &chosen);
  core::Result<DeviceMemory> reserveFifos(const plan::ConnectionPool &pool, const std::string &name);

  const Cuda &cuda;
  const Options options;
  const uint32_t ranks;
  std::mutex mutex; ///< guards the following members, except `recorder`
  core::Selection selection;
  std::vector<DeviceMemory> fifos; ///< FIFO slots of each loaded program
  Runner runner;
  std::optional<OnlineLaunches> online;
  std::optional<MeasuredCalls> measured; ///< the calls whose times the application's tuner gets
  std::optional<Recorder> recorder;      ///< declared last, so that it is destroyed first, while its programs exist
};

} // namespace gc3::cuda
