// SPDX-License-Identifier: Apache-2.0
// Queues the calls of a group on one communicator, by round.
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

/// Represents a call that a program runs, between Communicator::enter() and leave().
class EnteredCall {
public:
  /// Enters the communicator. If the communicator accepts no calls, the call fails, and isInside() returns false.
  explicit EnteredCall(GroupedCall &call);
  EnteredCall(EnteredCall &&other) noexcept
      : call(other.call), plan(std::move(other.plan)), capture(other.capture), error(std::move(other.error)),
        inside(std::exchange(other.inside, false)) {}
  ~EnteredCall() {
    if (inside)
      call.comm->leave();
  }
  EnteredCall(const EnteredCall &) = delete;
  EnteredCall &operator=(const EnteredCall &) = delete;

  bool isInside() const { return inside; }
  /// Determines whether each stream is captured.
  static void findCaptures(std::span<EnteredCall> calls);
  /// Has the executor load the program, unless the stream is captured. Does not wait.
  void beginLoad() const;
  bool isLoading() const { return call.comm->isLoading(); }
  bool isLoaded() const;
  /// Plans the call, or lets NCCL run it. The program is loaded or refused.
  void planCall();
  void enqueue();

private:
  cuda::Stream stream() const { return static_cast<cuda::Stream>(call.request.stream); }
  void failOn(core::Outcome outcome);

  GroupedCall &call;
  cuda::Runner::Plan plan;
  uint64_t capture = 0; ///< id of the stream's capture; 0: none
  core::Outcome error;  ///< result of findCaptures()
  bool inside = false;
};

class CallQueue {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// Creates an empty queue for `comm`, one rank of a communicator. Each rank has its own queue until it has joined.
  explicit CallQueue(Communicator *comm) : comms{comm} {}
  void add(Call &call) { rounds.push_back({&call}); }
  bool isDone() const { return next == rounds.size(); }

  // While the queue has one rank:
  /// Begins to join, unless a call is captured: gc3 can create nothing during a capture.
  void beginJoin();
  /// Chooses programs, if the rank has joined or can't join.
  void decide(Fallback *fallback);

  bool hasJoined() const { return joined; }
  /// Returns true if this queue must wait until `other` has joined, because both can belong to one communicator.
  bool mustAwait(const CallQueue &other) const { return !other.joined && mayShareCommunicator(other); }
  /// Moves the calls of another rank to this queue. Returns false if `other` belongs to another communicator.
  bool merge(CallQueue &other);
  /// Returns true if the current round of `other`, which is later in the group, must wait for this queue: calls share a
  /// stream, or NCCL runs that round.
  bool precedes(const CallQueue &other) const;
  /// Begins the next round, if none has begun. Returns true if the round can be enqueued.
  bool isReady();
  /// Enqueues the current round.
  void enqueueRound(Fallback *fallback);

private:
  /// One call of each of the thread's ranks; or consecutive rounds of calls that NCCL runs.
  using Round = std::vector<Call *>; ///< arrangeRound() sorts it by the order of the group

  /// Returns true if the queues' communicators are not known to differ. NCCL runs the calls of such communicators.
  bool mayShareCommunicator(const CallQueue &other) const;
  bool sharesStream(const CallQueue &other) const;
  bool isForNccl() const;
  void arrangeRound();
  void beginRound();

  std::vector<Communicator *> comms; ///< one rank at first; merge() adds the other ranks
  std::vector<Round> rounds;
  size_t next = 0;                  ///< index of the current or next round
  bool hasBegun = false;            ///< whether round `next` has begun
  std::vector<EnteredCall> entered; ///< calls of the current round that programs run
  bool joined = false;
};

} // namespace gc3::comm
