// SPDX-License-Identifier: Apache-2.0
// Calls of the ranks that one GPU runs in one launch, put on streams one after the other: a call is planned, which may
// refuse it, and then enqueued. Keeps the programs on the GPU, the memory that calls need besides, and the watchdog.
// Not thread-safe, except stop(), watch(), patrol(), broken() and breakDown(), which any thread may
// call at any time, also while a launch is waited for.
#pragma once

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
  /// `mixesGraphs` as in Options.
  Runner(const Cuda &cuda, uint32_t timeoutMs, bool mixesGraphs)
      : cuda(cuda), timeoutMs(timeoutMs), mixesGraphs(mixesGraphs), memory(cuda),
        watchdog(std::chrono::milliseconds(timeoutMs)) {}

  /// Takes what calls need on the thread's current device.
  core::Outcome prepare();

  const Room &room() const { return ownRoom; }
  /// For what belongs to no call.
  Stream stream() const { return ownStream.get(); }

  /// The program, if it is on the GPU.
  const GpuProgram *find(const core::LoadedProgram &program) const;
  const GpuProgram &add(std::unique_ptr<GpuProgram> program);

  /// A call, from its requests to what is put on the stream.
  struct Plan {
    std::shared_ptr<const PreparedLaunch> prepared;
    std::vector<core::Placement> placements;
    plan::Surroundings surroundings;
    kernel::KernelArgs call{};
    Launch launch{};
    uint64_t capture = 0; ///< that it is a part of; 0: none
  };
  /// A call with one valid request for each of the program's ranks here, all alike. Fills in `plan`, which must be new.
  /// It does not return the plan, since moving kilobytes would slow each call down.
  core::Outcome plan(const GpuProgram &program, std::span<const core::Request> requests, uint64_t capture, Plan &plan);
  /// Behind the last call, whatever stream that was on, or is replayed on.
  core::Outcome enqueue(Plan &plan, Stream stream);
  /// The same with `call` in place of the call itself, which is to put() it between other things.
  template <typename Function>
  core::Outcome enqueueWith(const Plan &plan, Stream stream, Function call) {
    if (core::Outcome outcome = begin(plan, stream); !outcome.ok())
      return outcome;
    return end(plan, stream, call());
  }
  core::Outcome put(Plan &plan, Stream stream);
  /// What comes next on a stream that is not captured comes behind the last call.
  core::Outcome awaitLastCall(Stream stream) const;
  /// Whether the calls that were enqueued or replayed have ended, or failed.
  core::Result<bool> isIdle() const;

  /// Looks after the kernels under way: if there is a timeout, one that runs for longer is stopped, also in a replay of
  /// a graph. Not ok: a call has been stopped, or has failed. The connections are in the middle of messages then.
  core::Outcome watch(Watchdog::Clock::time_point now);
  /// As watch, on a thread that does nothing else. It uses this GPU from then on.
  void patrol();
  /// Ends the kernels that run and those that will.
  void stop();
  /// Why there can't be calls any more, if so.
  core::Outcome broken() const;
  /// From now on there can't be.
  void breakDown(const core::Outcome &why);

private:
  core::Outcome placeBuffers(std::span<const core::Request> requests, Plan &plan);
  core::Outcome begin(const Plan &plan, Stream stream);
  core::Outcome end(const Plan &plan, Stream stream, const core::Outcome &outcome);
  core::Outcome noteCaptured(const Plan &plan, Stream stream);
  Event lastCallOf(uint64_t capture) const;
  core::Outcome enqueueMove(plan::StreamMove move, const Plan &plan, Stream stream);
  core::Outcome enqueueMoves(const std::vector<plan::StreamMove> &moves, const Plan &plan, Stream stream);
  bool lookAtBlocks(Watchdog::Clock::time_point now);
  core::Outcome stallReport(std::span<GpuProgram *const> told) const;
  void addReason(const core::Outcome &why);

  const Cuda &cuda;
  const uint32_t timeoutMs;
  const bool mixesGraphs;
  Room ownRoom;
  OwnStream ownStream;
  OwnStream reportStream; ///< nobody waits there for anybody
  PinnedMemory stopWord;
  std::atomic<uint32_t *> published{nullptr}; ///< the stop word, for threads that stop kernels
  OwnEvent lastCall;                          ///< also of replays
  /// Of late, and the last call in each. Nobody tells when one has ended; one that so many others begin within would
  /// lose its order.
  struct Capture {
    uint64_t number;
    OwnEvent lastCall;
  };
  static constexpr size_t mostCaptures = 256;
  std::deque<Capture> captures;
  PreparedLaunches preparedCalls;
  CallMemory memory;
  mutable std::mutex watching; ///< guards what follows
  Watchdog watchdog;
  std::vector<std::unique_ptr<GpuProgram>> programs;
  enum class Watched : uint8_t { Running, Stopping, Telling, Over } watched = Watched::Running;
  core::Outcome whyBroken, whyBefore; ///< the latter where that was before something was stopped
};

} // namespace gc3::cuda
