// SPDX-License-Identifier: Apache-2.0
// Runs one thread's calls on communicators as one group: the calls of ncclGroupEnd or gc3GroupEnd, or a single call.
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

class CallGroup {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// Has communicators join and load programs, and runs the calls. Sets the states and outcomes of the calls. Returns
  /// after all calls are enqueued. Without a fallback, all communicators must have joined, and calls without a program
  /// do not run.
  ///
  /// - The n-th calls of all the thread's ranks of a communicator are one round. A round is enqueued before the
  ///   communicator's next round loads a program, because other threads can make these calls one by one and wait for
  ///   each to end. Consecutive rounds that NCCL runs are one round.
  /// - No communicator waits for another communicator, except if calls share a stream, or if NCCL runs a round. Then
  ///   all calls on communicators earlier in the group come first.
  /// - If memory runs out, all communicators fail, since other ranks can run the calls.
  static void run(std::span<Call> calls, Fallback *fallback = nullptr);
};

} // namespace gc3::comm
