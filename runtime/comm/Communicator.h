// SPDX-License-Identifier: Apache-2.0
// One rank of an NCCL communicator, from its first collective call to its end. Each Communicator has one mutex, one
// phase (Phase.h) and one executor thread.
//
// The executor thread does all work that is slow or waits: it creates the child communicator, joins, loads programs,
// monitors kernels, drains and closes. A caller posts a task. Then it waits until the task is done, the communicator
// fails or is aborted, or a deadline passes. The caller's own thread plans and launches calls, because stream captures
// and per-thread default streams belong to that thread.
//
// Thread-safe. Only one call at a time is between enter() and leave().
#pragma once

#include "comm/GpuRank.h"
#include "comm/Phase.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace gc3::comm {

/// Limits for a wait for other ranks, in milliseconds. After `logAfterMs` the wait is logged; 0: it is not logged.
/// After `failAfterMs` the communicator fails; 0: it waits indefinitely.
struct WaitLimits {
  uint32_t logAfterMs = 0, failAfterMs = 0;
};

class Communicator {
public:
  /// `parent` is the application's communicator. `joinLimits` applies to joining and to awaitParent(); the options of
  /// `setup` have the limits for loading.
  Communicator(std::shared_ptr<const Setup> setup, ncclapi::Comm parent, const WaitLimits &joinLimits);
  /// The phase must be Unready or Closed, and joinExecutor() must have returned.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Snapshot of the state. `error` is the first error, also after an abort.
  struct Status {
    Phase phase;
    core::Outcome error;
    /// Returns true if the communicator was aborted, also after all its resources are released.
    bool isAborted() const {
      return phase == Phase::Aborted || phase == Phase::Releasing || (phase == Phase::Closed && !error.ok());
    }
  };
  Status status() const;
  /// Sets `state` to NCCL's state of the application's communicator. If NCCL's state is Success, sets `state` to gc3's
  /// own state instead. Returns the result of NCCL's query. Only one thread at a time queries NCCL: two concurrent
  /// queries would make NCCL free a completed operation twice.
  ncclapi::Result queryState(ncclapi::Result &state);

  /// Starts the executor, which creates the child and joins. Does nothing if the phase is not Unready. Does not wait.
  void beginJoin();
  /// Returns true while the communicator joins. Fails the communicator if its deadline has passed.
  bool isJoining();
  /// Waits until the communicator has joined. Returns an error if the communicator fails or is aborted.
  core::Outcome awaitJoin();
  /// Returns the reason why NCCL runs all calls, or Success if programs can run. Call after the communicator has
  /// joined.
  core::Outcome refusal() const;
  /// Return 0 until the executor has queried the number from NCCL.
  int rank() const;
  int ranks() const;
  /// Returns true if `other` may be another rank of the same communicator. Returns false if this rank accepts no
  /// further calls.
  bool mayShareCommunicator(const Communicator &other) const;

  /// Returns the windows that the application has registered with its communicator.
  UserWindows &windows() { return userWindows; }

  /// Returns the table of programs; null unless the communicator has joined without a refusal.
  std::shared_ptr<ProgramTable> programs() const;

  /// Returns the rank's online selection; null if the choice of programs is fixed.
  std::shared_ptr<OnlineRank> online() const;

  // Functions for one call, in the order in which a thread calls them:
  /// Waits until no other call is between enter() and leave(), then enters. The communicator does not close before
  /// leave(). If the communicator accepts no calls, returns an error and does not enter.
  core::Outcome enter();
  core::Result<uint64_t> findCapture(cuda::Stream stream) const { return cuda::findCapture(cuda, stream); }
  /// Returns true while online selection waits for other ranks (OnlineRank::mustWait). Fails the communicator if the
  /// deadline has passed, or if ranks have made different choices.
  bool isAwaitingTimes();
  /// Makes the executor load a program, unless the program is loaded or refused. `localError` as in GpuRank::load. Does
  /// not wait.
  void beginLoad(uint32_t program, const core::Outcome &localError);
  /// Returns true while the program loads. Fails the communicator if the deadline for loading has passed.
  bool isLoading();
  /// Returns the program on the GPU; null if it is not loaded. Sets `refusal` to the reason if all ranks refused the
  /// program, else to Success.
  const cuda::GpuProgram *loaded(uint32_t program, core::Outcome &refusal) const;
  core::Outcome plan(const cuda::GpuProgram &program, const core::Shape &shape, const core::Request &request,
                     uint64_t capture, cuda::Runner::Plan &plan);
  core::Outcome enqueue(cuda::Runner::Plan &plan, cuda::Stream stream);
  /// Measure the time of a call that NCCL enqueues between these two functions. `call` is the number of the call.
  void beginTime(uint64_t call, cuda::Stream stream);
  void endTime(uint64_t call, cuda::Stream stream);
  void leave();

  /// Waits until NCCL has enqueued all work of the application's communicator, if that communicator is non-blocking.
  core::Outcome awaitParent();

  /// Makes all later calls fail with `cause`, unless the communicator already has an error.
  void fail(const core::Outcome &cause);

  /// Waits until a running join has ended, then begins to shut the communicator down. The application must make no
  /// further collective call on it. If `waits` is true, waits until all resources are released, which other ranks can
  /// delay. If the communicator has failed, aborts it instead. Returns false if the caller must make no NCCL call on
  /// the application's communicator: another thread has aborted it during this call, or NCCL is still creating its
  /// child.
  bool finalize(bool waits);
  /// Ends gc3's kernels and the waits of other threads. Does not wait. Prevents later calls of gc3 on the application's
  /// communicator. Returns true if the executor is inside NCCL's split of that communicator. Then the caller must
  /// revoke that communicator and call awaitSplit(), before NCCL may free it.
  bool abort();
  /// Waits until the split has ended, but at most 5 seconds. A revocation just before the split does not end the split.
  /// In that case, NCCL's abort ends the split after this function has returned.
  void awaitSplit();
  /// Makes the executor release all resources. Call after abort(), and after NCCL has ended its part. Does nothing if
  /// the communicator was not aborted. Does not wait.
  void release();
  /// Like release(), but does nothing while NCCL can still create the child. Call this instead of release() if the
  /// application's communicator still exists.
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

  // Functions whose caller must hold the mutex:
  bool advance(Phase to);
  void failNow(const core::Outcome &cause);
  void logError() const;
  void abortNow();
  void releaseNow();
  bool checkDeadline(Clock::time_point begun, const WaitLimits &limit, const char *waiting, const char *late);
  core::Outcome callError() const;
  bool isAborted() const { return Status{phase, error}.isAborted(); }
  bool isJoinRunning() const { return phase == Phase::Forming || phase == Phase::Joining; }

  // Functions that run on the executor thread:
  void execute();
  void runPhase(Phase now);
  void join();
  GpuRank::JoinResult form();
  core::Outcome identify();
  void fallBackToNccl(const core::Outcome &reason);
  void load();
  void drain();
  std::shared_ptr<OnlineRank> endOnline();
  void close();
  void closeAborted();
  void checkErrors();
  std::string awaitComparison();
  core::Outcome checkInterruption();
  ncclapi::Result callOnParent(const std::function<ncclapi::Result()> &call);

  const std::shared_ptr<const Setup> setup;
  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const ncclapi::Comm parent;
  const WaitLimits joinLimits;
  ChildCommunicator child;
  UserWindows userWindows;
  std::unique_ptr<GpuRank> gpu; ///< null after the executor has released all resources

  /// Guards the members below. Not held during CUDA or NCCL calls, except queries of `parent`.
  mutable std::mutex mutex;
  std::condition_variable changed;
  Phase phase = Phase::Unready;
  /// The executor writes it in phase Forming, while it holds the mutex. Later the executor reads it without the mutex.
  GpuRank::Identity identity;
  Clock::time_point beganToJoin;
  core::Outcome error;      ///< the first error
  core::Outcome ncclReason; ///< if there is no error: why NCCL runs all calls
  std::shared_ptr<ProgramTable> table;
  std::vector<ProgramState> states; ///< by program
  struct LoadRequest {
    uint32_t program;
    core::Outcome localError;
    Clock::time_point begun;
  };
  std::shared_ptr<OnlineRank> onlineRank;         ///< see online()
  std::optional<Clock::time_point> awaitedSince;  ///< begin of the wait in isAwaitingTimes()
  std::optional<LoadRequest> request;             ///< set until the executor has loaded or refused the program
  std::optional<Clock::time_point> comparedUntil; ///< end of the wait in awaitComparison(); for the executor only
  uint32_t callers = 0;                           ///< number of threads in enter(), or between enter() and leave()
  bool isCalling = false;                         ///< a thread is between enter() and leave()
  std::thread executor;
};

} // namespace gc3::comm
