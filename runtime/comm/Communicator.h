// SPDX-License-Identifier: Apache-2.0
// One rank of an NCCL communicator, from its first collective call to its end. It has one mutex, one phase (Phase.h)
// and one executor thread.
//
// The executor thread does all work that is slow or waits: it creates the child communicator, joins, loads programs,
// monitors kernels, drains and closes. Callers post a task and wait until it is done, the communicator fails or is
// aborted, or their deadline passes. The caller's thread plans and launches calls, because captures and per-thread
// streams belong to it.
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

/// Limits how long a thread waits for other ranks, in milliseconds. 0: the wait has no end, or logs no line.
struct WaitLimits {
  uint32_t logAfterMs = 0, failAfterMs = 0;
};

class Communicator {
public:
  /// `parent` is the application's communicator. `joinLimits` applies to joining; loading uses the options' timeout.
  Communicator(std::shared_ptr<const Setup> setup, ncclapi::Comm parent, const WaitLimits &joinLimits);
  /// The phase must be Unready or Closed, and joinExecutor() must have returned.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Snapshot of the state. `error` is the first error, also after an abort.
  struct Status {
    Phase phase;
    core::Outcome error;
    /// Returns true also after all resources are released.
    bool isAborted() const {
      return phase == Phase::Aborted || phase == Phase::Releasing || (phase == Phase::Closed && !error.ok());
    }
  };
  Status status() const;
  /// Queries NCCL's state of the application's communicator. If that is a success, returns this communicator's state.
  /// One thread at a time queries NCCL, because concurrent queries would free a completed operation twice.
  ncclapi::Result queryState(ncclapi::Result &state);

  /// Has the executor create the child and join, unless it has begun to. Does not wait.
  void beginJoin();
  /// Returns true while the communicator joins. Fails the communicator after the deadline.
  bool isJoining();
  /// Waits until the communicator has joined. Returns an error if it fails or is aborted.
  core::Outcome awaitJoin();
  /// Returns why NCCL runs all calls; a success if programs run. The communicator has joined.
  core::Outcome refusal() const;
  /// Returns 0 until the executor has queried NCCL.
  int rank() const;
  int ranks() const;
  /// Returns false if `other` is known not to be another rank of the same communicator, or if this rank accepts no
  /// further calls.
  bool mayShareCommunicator(const Communicator &other) const;

  /// Returns the programs. The communicator has joined without a refusal.
  std::shared_ptr<ProgramTable> programs() const;

  // A call, in this order:
  /// Waits until no other call is inside, and prevents closing until leave(). Returns an error if calls fail.
  core::Outcome enter();
  core::Result<uint64_t> findCapture(cuda::Stream stream) const { return cuda::findCapture(cuda, stream); }
  /// Has the executor load a program, if it is not loaded or refused. `localError` as in GpuRank::load. Does not wait.
  void beginLoad(uint32_t program, const core::Outcome &localError);
  /// Returns true while the program loads. Fails the communicator after the deadline.
  bool isLoading();
  /// Returns null if the program is not loaded. If all ranks refused it, sets `refusal` to the reason.
  const cuda::GpuProgram *loaded(uint32_t program, core::Outcome &refusal) const;
  core::Outcome plan(const cuda::GpuProgram &program, const core::Request &request, uint64_t capture,
                     cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);
  void leave();

  /// Waits until NCCL has enqueued all work of the application's communicator, if that is non-blocking.
  core::Outcome awaitParent();

  /// Fails all later calls with `cause`, unless there is an earlier error.
  void fail(const core::Outcome &cause);

  /// Begins to shut down. If `waits`, waits until everything is released, which other ranks can delay. The caller makes
  /// no further collective call. Aborts a failed communicator instead. Returns false if no call may be made on the
  /// application's communicator: another thread has aborted it during this call, or NCCL still creates its child.
  bool finalize(bool waits);
  /// Ends kernels and the waits of other threads. Does not wait. Prevents later calls on the application's
  /// communicator. Returns true if the executor is in NCCL's split of that communicator. Then the caller must revoke
  /// it, and awaitSplit() must return, before NCCL may free it.
  bool abort();
  /// Waits until the split ends, at most some seconds. A revocation just before the split does not end it; NCCL's abort
  /// does.
  void awaitSplit();
  /// Has the executor release everything. Call after abort(), and after NCCL has ended its part. Does not wait.
  void release();
  /// Like release(), but releases nothing if NCCL can still create the child. For an application's communicator that
  /// still exists.
  void releaseUnlessPending();

  // For the registry:
  bool isClosed() const;
  /// Joins the executor thread of a closed communicator. The thread has ended, or is about to end.
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
  std::unique_ptr<GpuRank> gpu; ///< null after release; no call and no executor uses it then

  mutable std::mutex
      mutex; ///< guards the members below; not held during CUDA or NCCL calls, except queries of the parent
  std::condition_variable changed;
  Phase phase = Phase::Unready;
  GpuRank::Identity identity; ///< the executor writes it while Forming, and reads it without the mutex
  Clock::time_point beganToJoin;
  core::Outcome error;      ///< the first error
  core::Outcome ncclReason; ///< why NCCL runs all calls of a communicator without an error
  std::shared_ptr<ProgramTable> table;
  std::vector<ProgramState> states; ///< by program
  struct LoadRequest {
    uint32_t program;
    core::Outcome localError;
    Clock::time_point begun;
  };
  std::optional<LoadRequest> request; ///< until the executor has loaded the program
  uint32_t callers = 0;               ///< threads in enter(), or between enter() and leave()
  bool isCalling = false;             ///< a thread is between enter() and leave()
  std::thread executor;
};

} // namespace gc3::comm
