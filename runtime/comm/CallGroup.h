// SPDX-License-Identifier: Apache-2.0
// Calls of one thread on communicators, as one group: those of ncclGroupEnd, of gc3GroupEnd, or a single one.
#pragma once

#include "comm/GroupedCall.h"

namespace gc3::comm {

class CallGroup {
public:
  using Call = GroupedCall;
  using Fallback = CallFallback;

  /// Has communicators join and load programs, and runs the calls. Sets their states and outcomes. Returns once all are
  /// enqueued. Without a fallback, all communicators must have joined, and calls for NCCL are not made.
  ///
  /// - The n-th calls of all the thread's ranks of a communicator are one round. A round is enqueued before the
  ///   communicator's next one loads a program: other threads can make these calls one by one, and wait for each to
  ///   end. Consecutive rounds that NCCL runs are one.
  /// - No communicator waits for another one, except where calls share a stream, or NCCL runs a round: there all calls
  ///   on the communicators that come first in the group precede.
  /// - If memory runs out, all communicators fail, since other ranks can run the calls.
  static void run(std::span<Call> calls, Fallback *fallback = nullptr);
};

} // namespace gc3::comm
