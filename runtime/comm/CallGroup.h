// SPDX-License-Identifier: Apache-2.0
// Calls of one thread on communicators, as one group: those of ncclGroupEnd, of gc3GroupEnd, or a single one.
#pragma once

#include "comm/Communicator.h"

#include <functional>

namespace gc3::comm {

class CallGroup {
public:
  /// One rank's call.
  struct Call {
    std::shared_ptr<Communicator> comm;
    core::Request request;           ///< what it points to must outlive the group
    std::optional<uint32_t> program; ///< in that comm's table; nothing: not chosen yet, as the comm has not joined
    core::Outcome outcome;
    bool isDeclined = false; ///< no program runs it on any rank, and NCCL can; `outcome` says why
  };

  /// What NCCL does for a group. C API: nothing.
  struct Fallback {
    virtual ~Fallback() = default;
    /// The program of a call whose communicator has joined meanwhile, or can't join; nothing: NCCL runs the call.
    virtual std::optional<uint32_t> choose(const Call &call) = 0;
    /// Has NCCL run declined calls, in the order of the group. An error: they are lost here, and other ranks have made
    /// them.
    virtual core::Outcome run(std::span<Call *const> declined) = 0;
  };

  /// Has communicators join, has programs loaded, and runs the calls; fills in their outcomes. Returns once all are
  /// enqueued. Without a fallback all communicators have joined, and declined calls stay as they are.
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
