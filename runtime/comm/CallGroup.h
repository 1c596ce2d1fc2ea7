// SPDX-License-Identifier: Apache-2.0
// Calls of one thread on communicators, as one group: those of ncclGroupEnd, of gc3GroupEnd, or a single one.
#pragma once

#include "comm/Communicator.h"

#include <functional>

namespace gc3::comm {

/// Has all communicators join, each on its executor, and waits for them. Other ranks can have theirs join one by one.
void joinAll(std::span<const std::shared_ptr<Communicator>> communicators);

class CallGroup {
public:
  /// One rank's call that a program runs.
  struct Call {
    std::shared_ptr<Communicator> comm; ///< has joined without a refusal
    uint32_t program = 0;               ///< that comm's table chose for the request
    core::Request request;              ///< what it points to must outlive the group
    core::Outcome outcome;
    bool isDeclined = false; ///< all ranks decline it, and NCCL can run it; `outcome` says why
  };
  /// Has NCCL run declined calls, in the order of the group. An error: they are lost here, and other ranks have made
  /// them.
  using RunByNccl = std::function<core::Outcome(std::span<Call *const> calls)>;

  /// Runs the calls; fills in their outcomes. The n-th calls of all ranks of a communicator are one round. A round is
  /// enqueued before the communicator's next one loads a program: other threads can make these calls one by one, and
  /// wait for each to end. No communicator waits for another one, so the order of the group's communicators is free.
  /// Without `runByNccl` declined calls stay as they are. If memory runs out, all communicators fail, since other ranks
  /// can run the calls.
  static void run(std::span<Call> calls, const RunByNccl &runByNccl = nullptr);
};

} // namespace gc3::comm
