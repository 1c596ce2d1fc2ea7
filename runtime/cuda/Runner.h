// SPDX-License-Identifier: Apache-2.0
// Runs the calls of ranks that share a launch on one GPU, one call after the other. A call is first planned, which can
// fail, then enqueued. Holds the programs on the GPU, the memory that calls need in addition, and the watchdog.
//
// Not thread-safe, except stop(), watch(), watchOnDevice(), failure() and markFailed(), which any thread may call at
// any time, including during a launch.
#pragma once

#include "cuda/CallTimes.h"
#include "cuda/InFlight.h"
#include "cuda/PreparedLaunch.h"
#include "cuda/Watchdog.h"
#include "plan/CopyPlan.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>

namespace gc3::cuda {

class Runner {
public:
  /// `mixesGraphs` is Options::mixesGraphs. `cuda` must outlive this object.
  Runner(const Cuda &cuda, uint32_t timeoutMs, bool mixesGraphs)
      : cuda(cuda), timeoutMs(timeoutMs), mixesGraphs(mixesGraphs), calls(cuda), memory(cuda),
        watchdog(std::chrono::milliseconds(timeoutMs)) {}

  /// Creates the streams, the event and the stop word, on the thread's current device.
  core::Outcome prepare();

  const DeviceLimits &limits() const { return deviceLimits; }
  /// Returns the stream for work that belongs to no call.
  Stream stream() const { return ownStream.get(); }
  /// Returns the calls of this runner, which can see those of other runners.
  InFlight &inFlight() { return calls; }

  /// Returns the program, or null if it is not on the GPU.
  const GpuProgram *find(const core::LoadedProgram &program) const;
  const GpuProgram &add(std::unique_ptr<GpuProgram> program);

  /// A planned call, ready to be enqueued.
  struct Plan {
    std::shared_ptr<const PreparedLaunch> prepared;
    std::vector<core::Placement> placements;
    plan::CallMoves moves;
    kernel::KernelArgs call{};
    Launch launch{};
    uint64_t capture = 0;       ///< id of the capture that the call is part of; 0: none
    CallTimes *times = nullptr; ///< measures the call as call `number`; null: the call is not measured
    uint64_t number = 0;
    bool byKernel = false; ///< the kernel measures the call, if it can
  };
  /// Plans a call. `requests` has one valid request for each of the program's ranks on this GPU, and all of them must
  /// match. Sets `plan`, which must be new. Uses an output parameter, since moving kilobytes would slow each call down.
  core::Outcome plan(const GpuProgram &program, const core::Shape &shape, std::span<const core::Request> requests,
                     uint64_t capture, Plan &plan);
  /// Enqueues a call after the last call, whichever stream that call was enqueued or replayed on.
  core::Outcome enqueue(Plan &plan, Stream stream);
  /// Like enqueue(), but calls `call` to enqueue the work. `call` must call put(), and can enqueue other work before
  /// and after it.
  template <typename Function>
  core::Outcome enqueueWith(Plan &plan, Stream stream, Function call) {
    if (core::Outcome outcome = begin(plan, stream); !outcome.ok())
      return outcome;
    if (plan.times)
      beginTime(plan, stream);
    const core::Outcome outcome = call();
    if (plan.times)
      endTime(plan, stream, outcome.ok());
    return end(plan, stream, outcome);
  }
  core::Outcome put(Plan &plan, Stream stream);
  /// Orders later work on `stream` after the last call. The stream must not be captured.
  core::Outcome awaitLastCall(Stream stream) const;
  /// Returns whether all calls that were enqueued or replayed have ended. Returns an error if one has failed.
  core::Result<bool> isIdle() const;

  /// Checks the running kernels. If there is a timeout, stops a kernel that exceeds it, also in a replay of a graph.
  /// Returns an error if a call was stopped or has failed. Connections can then be in the middle of messages.
  core::Outcome watch(Watchdog::Clock::time_point now);
  /// Like watch(), for a thread that does nothing else: makes this GPU the thread's current device.
  void watchOnDevice();
  /// Stops the running kernels and all later ones.
  void stop();
  /// Returns the error that makes all further calls fail, or Success.
  core::Outcome failure() const;
  /// Makes all further calls fail with `why`, unless there is an earlier error.
  void markFailed(const core::Outcome &why);

private:
  core::Outcome placeBuffers(std::span<const core::Request> requests, Plan &plan);
  core::Outcome begin(const Plan &plan, Stream stream);
  static void beginTime(Plan &plan, Stream stream);
  static void endTime(const Plan &plan, Stream stream, bool isEnqueued);
  core::Outcome end(const Plan &plan, Stream stream, const core::Outcome &outcome);
  core::Outcome noteCaptured(const Plan &plan, Stream stream);
  Event lastCallOf(uint64_t capture) const;
  core::Outcome enqueueMove(plan::StreamMove move, const Plan &plan, Stream stream);
  core::Outcome enqueueMoves(const std::vector<plan::StreamMove> &moves, const Plan &plan, Stream stream);
  bool stopStuckKernel(Watchdog::Clock::time_point now);
  core::Outcome stallReport(std::span<GpuProgram *const> examined) const;
  void setFailure(const core::Outcome &why);

  const Cuda &cuda;
  const uint32_t timeoutMs;
  const bool mixesGraphs;
  DeviceLimits deviceLimits;
  OwnStream ownStream;
  OwnStream reportStream; ///< separate, so that copies of reports never wait for a call
  PinnedMemory stopWord;
  std::atomic<uint32_t *> published{nullptr}; ///< the stop word, for threads that stop kernels
  OwnEvent lastCall;                          ///< event after the last call; replays record it, too
  InFlight calls;                             ///< declared after `lastCall`, which it queries
  /// The latest captures, with an event after the last call in each. CUDA does not report when a capture ends, so the
  /// runner drops the oldest captures. If `mostCaptures` captures begin during another capture, later calls of that
  /// capture are not ordered after its earlier calls.
  struct Capture {
    uint64_t number;
    OwnEvent lastCall;
  };
  static constexpr size_t mostCaptures = 256;
  std::deque<Capture> captures;
  PreparedLaunches preparedCalls;
  CallMemory memory;
  mutable std::mutex watchMutex; ///< guards the following members
  Watchdog watchdog;
  std::vector<std::unique_ptr<GpuProgram>> programs;
  enum class WatchState : uint8_t { Running, Stopping, ReadingReports, Failed } watchState = WatchState::Running;
  core::Outcome currentFailure, failureBeforeStop; ///< failureBeforeStop: error before a kernel was stopped or failed
};

} // namespace gc3::cuda
