// SPDX-License-Identifier: Apache-2.0
// One thread's NCCL group. gc3 forwards every start and end to NCCL. It defers calls that a program runs until the
// outermost end, after NCCL's part of the group, and forwards all other calls at once. So every rank defers the same
// calls in the same order. Calls on a communicator that has not joined are deferred too; the end decides what runs
// them.
#pragma once

#include "comm/CallGroup.h"
#include "shim/Interposer.h"

#include <vector>

namespace gc3::shim {

class Group {
public:
  static Group &ofThisThread();

  bool isOpen() const { return depth != 0; }

  Result start();
  /// At the outermost end, runs NCCL's part, then the deferred calls, for which communicators join. Returns the first
  /// error. If NCCL's part fails, runs no deferred call.
  Result end();
  /// Returns NCCL's estimate of the group, with the deferred calls. Runs nothing.
  Result simulateEnd(SimInfo *info);

  /// Runs a collective call on a communicator, forwards it to NCCL, or defers it.
  Result call(const CollectiveCall &call, std::shared_ptr<Communicator> communicator);

  /// Returns true if a deferred call uses an operation that the application destroys. Then the end of the group has
  /// NCCL destroy it.
  bool deferDestruction(RedOp op, Comm comm);

  /// Forwards the deferred calls on `comm` to NCCL, in NCCL's part of the group. Call before `comm` is finalized or
  /// destroyed.
  void forwardCallsOn(Comm comm);
  /// Drops the deferred calls on `comm`. Call before `comm` is aborted.
  void dropCallsOn(Comm comm);

private:
  struct Deferred {
    CollectiveCall call;
    std::shared_ptr<Communicator> communicator;
    std::optional<uint32_t> program{}; ///< nothing: undecided, because the communicator has not joined
  };
  struct Operation {
    RedOp op;
    Comm comm;
    std::shared_ptr<Communicator> communicator;
  };

  Result finish(Result ncclResult);
  core::Outcome awaitNccl() const;
  Result runDeferred() const;
  template <typename Which>
  void forward(Which which);
  template <typename Which>
  void destroyOperations(Which which);

  uint32_t depth = 0;
  std::vector<Deferred> deferred;
  std::vector<std::shared_ptr<Communicator>> forwardedTo; ///< communicators with collective calls that NCCL got
  std::vector<Operation> operations; ///< operations that the application has destroyed, and NCCL has not
  Result failure = Result::Success;  ///< the first error of forwarded calls
};

} // namespace gc3::shim
