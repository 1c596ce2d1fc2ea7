// SPDX-License-Identifier: Apache-2.0
// One rank of an NCCL communicator, from its first collective call to its end: one mutex, one phase (Phase.h), one
// executor thread.
//
// The executor thread does all work that is slow or waits: it creates the child communicator, joins, loads programs,
// looks after kernels, drains and closes. Callers post a task and wait until it is done, the communicator fails or is
// aborted, or their deadline passes. Calls are planned and launched on the caller's thread, since captures and
// per-thread streams belong to it.
//
// Thread-safe. One call at a time runs between enter() and leave().
#pragma once

#include "comm/GpuRank.h"
#include "comm/Phase.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace gc3::comm {

/// How long a thread waits for other ranks, in milliseconds; 0: without end, or without a line in the log.
struct WaitLimits {
  uint32_t logAfterMs = 0, failAfterMs = 0;
};

class Communicator {
public:
  /// `parent` is the application's. `joinLimits` is for joining; loading waits for the timeout of the options.
  Communicator(std::shared_ptr<const Setup> setup, ncclapi::Comm parent, const WaitLimits &joinLimits);
  /// The phase is Unready or Closed, and the executor thread has been joined.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// A snapshot. `error` is the first error, also after an abort.
  struct Status {
    Phase phase;
    core::Outcome error;
    /// Also once everything is released.
    bool isAborted() const {
      return phase == Phase::Aborted || phase == Phase::Releasing || (phase == Phase::Closed && !error.ok());
    }
  };
  Status status() const;
  /// NCCL's state of the application's communicator or, if that is a success, this communicator's. One thread at a time
  /// queries NCCL, which frees a completed operation twice otherwise.
  ncclapi::Result queryState(ncclapi::Result &state);

  /// Has the executor form the child and join, unless that has begun. Does not wait.
  void beginJoin();
  /// True while that is under way. Past the deadline the communicator fails.
  bool isJoining();
  /// Waits until the communicator has joined. Returns an error if it fails or is aborted.
  core::Outcome awaitJoin();
  /// Once joined: why NCCL runs all calls; a success if programs run.
  core::Outcome refusal() const;
  /// 0 until the executor has asked NCCL.
  int rank() const;
  int ranks() const;
  /// False if `other` is known to be no rank of the same communicator, or this rank takes no calls any longer.
  bool mayShareCommunicator(const Communicator &other) const;

  /// Once joined without a refusal.
  std::shared_ptr<ProgramTable> programs() const;

  // A call, in this order:
  /// Waits for its turn, and keeps the communicator from closing until leave(). Returns an error if calls fail.
  core::Outcome enter();
  core::Result<uint64_t> findCapture(cuda::Stream stream) const { return cuda::findCapture(cuda, stream); }
  /// Has the executor load a program, if it is not loaded or refused; `localError` as in GpuRank::load. Does not wait.
  void beginLoad(uint32_t program, const core::Outcome &localError);
  /// True while that is under way. Past the deadline the communicator fails.
  bool isLoading();
  /// Null if the program is not loaded; `refusal` then says why, if all ranks have refused it.
  const cuda::GpuProgram *loaded(uint32_t program, core::Outcome &refusal) const;
  core::Outcome plan(const cuda::GpuProgram &program, const core::Request &request, uint64_t capture,
                     cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);
  void leave();

  /// Waits until NCCL has enqueued what it was given on the application's communicator, if that does not block.
  core::Outcome awaitParent();

  /// Calls fail from now on, with `cause`, unless there is an earlier error.
  void fail(const core::Outcome &cause);

  /// Begins the end. If `waits`, waits until everything is released, which other ranks can delay. The caller makes no
  /// further call. A failed communicator is aborted instead. Returns false if the application's communicator must not
  /// be touched, since another thread has aborted it meanwhile, or NCCL still creates its child.
  bool finalize(bool waits);
  /// Ends kernels, and what other threads wait for. Does not wait. No later call on the application's communicator
  /// begins. Returns true if the executor is in NCCL's split of it. Then the application's communicator must be
  /// revoked, and awaitSplit() must return, before NCCL may free it.
  bool abort();
  /// Waits for some seconds at most: a revocation just before the split does not end it, and NCCL's abort does then.
  void awaitSplit();
  /// After abort(), and once NCCL has ended its part: has the executor release everything. Does not wait.
  void release();
  /// Like release(), while the application's communicator still lives: releases nothing if NCCL can still be creating
  /// the child.
  void releaseUnlessPending();

  // For the registry:
  bool isClosed() const;
  /// Joins the executor thread of a closed communicator, which has ended or is about to.
  void joinExecutor();

private:
  struct ProgramState {
    const cuda::GpuProgram *onGpu = nullptr;
    core::Outcome refusal;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  // With the mutex held:
  bool advance(Phase to);
  void failNow(const core::Outcome &cause);
  void abortNow();
  void releaseNow();
  bool checkDeadline(Clock::time_point begun, const WaitLimits &limit, const char *waiting, const char *late);
  core::Outcome callError() const;
  bool isAborted() const { return Status{phase, error}.isAborted(); }
  bool isJoinRunning() const { return phase == Phase::Forming || phase == Phase::Joining; }

  // On the executor thread:
  void execute();
  void runPhase(Phase now);
  void join();
  GpuRank::JoinResult form();
  core::Outcome identify();
  void fallBackToNccl(const core::Outcome &reason);
  void load();
  void drain();
  void close();
  void closeAborted();
  void checkErrors();
  core::Outcome checkInterruption();
  ncclapi::Result callOnParent(const std::function<ncclapi::Result()> &call);

  const std::shared_ptr<const Setup> setup;
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const ncclapi::Comm parent;
  const WaitLimits joinLimits;
  ChildCommunicator child;
  std::unique_ptr<GpuRank> gpu; ///< null once released, after which no call and no executor uses it

  mutable std::mutex
      mutex; ///< guards what follows; not held during calls of CUDA or NCCL, except queries of the parent
  std::condition_variable changed;
  Phase phase = Phase::Unready;
  GpuRank::Identity identity; ///< the executor writes it while Forming, and reads it without the mutex
  Clock::time_point beganToJoin;
  core::Outcome error;      ///< the first
  core::Outcome ncclReason; ///< why NCCL runs all calls, though the communicator is well
  std::shared_ptr<ProgramTable> table;
  std::vector<ProgramState> states; ///< by program
  struct LoadRequest {
    uint32_t program;
    core::Outcome localError;
    Clock::time_point begun;
  };
  std::optional<LoadRequest> request; ///< until the executor has loaded the program
  uint32_t callers = 0;               ///< in enter(), or between enter() and leave()
  bool isCalling = false;             ///< one of them is between these
  std::thread executor;
};

} // namespace gc3::comm
