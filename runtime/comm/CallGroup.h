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
    enum class State : uint8_t {
      Undecided, ///< the communicator has not joined
      Program,   ///< `program` runs it
      Nccl,      ///< no program runs it on any rank
      Failed,    ///< `outcome` is the error
    };

    std::shared_ptr<Communicator> comm;
    core::Request request; ///< the buffers that it points to must outlive the group
    State state = State::Undecided;
    uint32_t program = 0; ///< index in the table of `comm`
    core::Outcome outcome{};

    void fail(core::Outcome error) { state = State::Failed, outcome = std::move(error); }
    void decline(core::Outcome why) { state = State::Nccl, outcome = std::move(why); }
  };

  /// What NCCL does for a group. C API: nothing.
  struct Fallback {
    virtual ~Fallback() = default;
    /// Returns the program of a call whose communicator has joined, or can't join; nothing: NCCL runs the call.
    virtual std::optional<uint32_t> choose(const Call &call) = 0;
    /// Has NCCL run calls, in the order of the group. Returns an error if this rank drops them; other ranks can have
    /// made them.
    virtual core::Outcome run(std::span<Call *const> declined) = 0;
  };

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
