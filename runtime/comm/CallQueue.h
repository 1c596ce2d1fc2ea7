// SPDX-License-Identifier: Apache-2.0
// The calls of a group on one communicator, by round.
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

/// A call that a program runs, between Communicator::enter() and leave().
class EnteredCall {
public:
  /// If the communicator takes no calls, the call fails, and isInside() is false.
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
  /// Finds out whether each stream is captured.
  static void findCaptures(std::span<EnteredCall> calls);
  /// Has the executor load the program, unless the stream is captured. Does not wait.
  void beginLoad() const;
  bool isLoading() const { return call.comm->isLoading(); }
  bool isLoaded() const;
  /// Once the program is loaded or refused: plans the call, or leaves it to NCCL.
  void planCall();
  void enqueue();

private:
  cuda::Stream stream() const { return static_cast<cuda::Stream>(call.request.stream); }
  void failOn(core::Outcome outcome);

  GroupedCall &call;
  cuda::Runner::Plan plan;
  uint64_t capture = 0; ///< of the stream; 0: none
  core::Outcome error;  ///< of findCaptures
  bool inside = false;
};

class CallQueue {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// The calls of `comm`, one of the communicator's ranks. Other ranks have queues of their own until they have joined.
  explicit CallQueue(Communicator *comm) : comms{comm} {}
  void add(Call &call) { rounds.push_back({&call}); }
  bool isDone() const { return next == rounds.size(); }

  // As long as the queue is of one rank:
  /// Begins to join, unless a call is captured: nothing can be created during a capture.
  void beginJoin();
  /// Chooses programs once the rank has joined, or can't join.
  void decide(Fallback *fallback);

  bool hasJoined() const { return joined; }
  /// True if this queue must wait until `other` has joined, as both can be of one communicator.
  bool mustAwait(const CallQueue &other) const { return !other.joined && mayShareCommunicator(other); }
  /// Takes over the calls of another rank. Returns false if `other` is of another communicator.
  bool merge(CallQueue &other);
  /// True if the current round of `other`, which comes later in the group, must wait for this queue: calls share a
  /// stream, or NCCL runs that round.
  bool precedes(const CallQueue &other) const;
  /// Begins the next round, if none has begun. Returns true if the round can be finished.
  bool isReady();
  /// Enqueues the current round.
  void enqueueRound(Fallback *fallback);

private:
  /// One call of each of the thread's ranks, or all calls up to the next one that a program runs.
  using Round = std::vector<Call *>; ///< from arrangeRound() on, in the order of the group

  /// Communicators that are not known to differ count as one. NCCL runs their calls.
  bool mayShareCommunicator(const CallQueue &other) const;
  bool sharesStream(const CallQueue &other) const;
  bool isForNccl() const;
  void arrangeRound();
  void beginRound();

  std::vector<Communicator *> comms; ///< one at first, then with the other ranks
  std::vector<Round> rounds;
  size_t next = 0;                  ///< index of the round that has begun, or begins next
  bool hasBegun = false;            ///< that round
  std::vector<EnteredCall> entered; ///< its calls that programs run
  bool joined = false;
};

} // namespace gc3::comm
