// SPDX-License-Identifier: Apache-2.0
// Runs several calls of one thread as a group: the calls that the thread has deferred until ncclGroupEnd or
// gc3GroupEnd, or a single call.
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

class CallGroup {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// Makes communicators join and load programs, then runs the calls. Sets the states and outcomes of the calls.
  /// Returns after all calls are enqueued. Without a fallback, all communicators must have joined, and a call that no
  /// program runs does not run at all.
  ///
  /// - A thread can have several ranks of one communicator. The n-th calls of these ranks form one round. gc3 enqueues
  ///   a round before the communicator's next round loads a program. This matters if another thread makes the same
  ///   calls one by one, and waits until each call has ended. Consecutive rounds that NCCL runs are merged into one
  ///   round.
  /// - A round of one communicator waits for another communicator only in two cases: NCCL runs the round, or the round
  ///   shares a stream with the other communicator. In these cases, if the other communicator is earlier in the group,
  ///   all its calls come first.
  /// - If memory runs out, all communicators fail, because other ranks may run the calls.
  static void run(std::span<Call> calls, Fallback *fallback = nullptr);
};

} // namespace gc3::comm
