// SPDX-License-Identifier: Apache-2.0
// The queue of a group's calls on one communicator, divided into rounds (CallGroup.h).
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

/// A call that a program runs, or may run. The constructor calls Communicator::enter(), and the destructor calls
/// leave().
class EnteredCall {
public:
  /// Enters the communicator. If the communicator accepts no calls, the call fails, and isInside() returns false.
  explicit EnteredCall(GroupedCall &call);
  EnteredCall(EnteredCall &&other) noexcept
      : call(other.call), fixedState(other.fixedState), fixedProgram(other.fixedProgram), plan(std::move(other.plan)),
        capture(other.capture), timed(other.timed), error(std::move(other.error)),
        inside(std::exchange(other.inside, false)) {}
  ~EnteredCall() {
    if (inside)
      call.comm->leave();
  }
  EnteredCall(const EnteredCall &) = delete;
  EnteredCall &operator=(const EnteredCall &) = delete;

  bool isInside() const { return inside; }
  /// Determines for each call whether its stream is captured.
  static void findCaptures(std::span<EnteredCall> calls);
  /// Returns true while the choice of the program must wait for other ranks.
  bool isAwaitingTimes() const { return call.isOnline() && capture == 0 && call.comm->isAwaitingTimes(); }
  /// Chooses what runs the call, if online selection does so.
  void choose();
  /// If the ranks have refused the chosen program, replaces it by the fixed one, and returns true. Call after
  /// isLoading() has returned false.
  bool replaceRefused();
  /// Makes the executor load the call's program, unless the stream is captured. Does not wait.
  void beginLoad() const;
  bool isLoading() const { return call.comm->isLoading(); }
  bool isLoaded() const;
  /// Plans the call if its program is loaded. If the ranks have refused the program, or the stream is captured and the
  /// program is not loaded, lets NCCL run the call. Call after isLoading() has returned false.
  void planCall();
  void enqueue();
  /// Call before and after NCCL enqueues its calls. They measure this call if NCCL runs it.
  void beginNccl() const;
  void endNccl() const;

private:
  cuda::Stream stream() const { return static_cast<cuda::Stream>(call.request.stream); }
  void failOn(core::Outcome outcome);

  void setArm(const core::Arm &arm);
  bool isRunByNccl() const { return call.state == GroupedCall::State::Nccl; }

  GroupedCall &call;
  const GroupedCall::State fixedState; ///< what runs the call without online selection
  const uint32_t fixedProgram;
  cuda::Runner::Plan plan;
  uint64_t capture = 0;          ///< id of the stream's capture; 0: none
  std::optional<uint64_t> timed; ///< the call's number, if its time is measured
  core::Outcome error;           ///< result of findCaptures()
  bool inside = false;
};

class CallQueue {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// Creates an empty queue for `comm`, one rank of a communicator. Each rank has its own queue until merge().
  explicit CallQueue(Communicator *comm) : comms{comm} {}
  void add(Call &call) { rounds.push_back({&call}); }
  bool isDone() const { return next == rounds.size(); }

  // Functions for a queue of one rank, before merge():
  /// Makes the rank begin to join. Does nothing if the stream of a call is captured, because gc3 can create no
  /// resources during a capture.
  void beginJoin();
  /// Chooses the programs of the calls. Does nothing while the rank is still joining.
  void decide(Fallback *fallback);

  bool hasJoined() const { return joined; }
  /// Returns true if this queue must wait until `other` has joined, because both may belong to the same communicator.
  bool mustAwait(const CallQueue &other) const { return !other.joined && mayShareCommunicator(other); }
  /// Adds the calls of `other`, another rank of the same communicator, to this queue. Returns false if `other` has not
  /// joined or belongs to another communicator.
  bool merge(CallQueue &other);
  /// Returns true if the current round of `other` must wait for calls of this queue, because the round shares a stream
  /// with these calls, or because NCCL runs the round. `other` must be later in the group.
  bool precedes(const CallQueue &other) const;
  /// Begins the next round, if none has begun. Returns true if the round can be enqueued.
  bool isReady();
  /// Enqueues the current round.
  void enqueueRound(Fallback *fallback);

private:
  /// One call of each of the thread's ranks, or the calls of several consecutive rounds that NCCL runs.
  using Round = std::vector<Call *>; ///< in the group's order after arrangeRound()

  /// Returns false if the queues are known to belong to different communicators. If gc3 does not know this, it may
  /// treat two communicators as one. That is harmless, because NCCL runs all calls of such communicators.
  bool mayShareCommunicator(const CallQueue &other) const;
  bool sharesStream(const CallQueue &other) const;
  bool isForNccl() const;
  void arrangeRound();
  void beginRound();
  bool chooseRound();
  bool mergeIntoNext();
  bool chooseNext();

  std::vector<Communicator *> comms; ///< one rank at first; merge() adds the other ranks
  std::vector<Round> rounds;
  size_t next = 0; ///< index of the current or next round
  /// The progress of round `next`. Choosing: its calls have entered their communicators, and await times. Loading: all
  /// programs are chosen.
  enum class Stage : uint8_t { Waiting, Choosing, Loading } stage = Stage::Waiting;
  std::vector<EnteredCall> entered; ///< calls of the current round that programs run
  bool joined = false;
};

} // namespace gc3::comm
