// SPDX-License-Identifier: Apache-2.0
// One thread's NCCL group. NCCL gets every start and end. Calls that a program runs are deferred to the outermost end,
// after NCCL's part of the group; NCCL gets all other calls when they are made. So every rank defers the same calls in
// the same order. Calls on a communicator that has not joined are deferred as well, and decided at the end.
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
  /// At the outermost end: NCCL's part, then the deferred calls, for which communicators join. Returns the first error.
  /// If NCCL's part fails, no deferred call runs.
  Result end();
  /// NCCL's estimate of the group, for which NCCL gets the deferred calls as well. Nothing runs.
  Result simulateEnd(SimInfo *info);

  /// A collective call on a communicator: runs it, forwards it to NCCL, or defers it.
  Result call(const CollectiveCall &call, std::shared_ptr<Communicator> communicator);

  /// True if NCCL must keep an operation that the application destroys until it has got the deferred calls that use it.
  /// NCCL destroys it afterwards.
  bool deferDestruction(RedOp op, Comm comm);

  /// Before `comm` is finalized or destroyed: NCCL gets the calls deferred on it, in its part of the group.
  void forwardCallsOn(Comm comm);
  /// Before `comm` is aborted: the calls deferred on it are not made.
  void dropCallsOn(Comm comm);

private:
  struct Deferred {
    CollectiveCall call;
    std::shared_ptr<Communicator> communicator;
    std::optional<uint32_t> program{}; ///< nothing: not decided yet, as the communicator has not joined
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
  std::vector<std::shared_ptr<Communicator>> forwardedTo; ///< communicators on which NCCL has got collective calls
  std::vector<Operation> operations;                      ///< destroyed by the application, and not yet by NCCL
  Result failure = Result::Success;                       ///< the first error of forwarded calls
};

} // namespace gc3::shim
