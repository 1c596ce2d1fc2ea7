// SPDX-License-Identifier: Apache-2.0
// One thread's NCCL group. gc3 forwards every start and end of a group to NCCL. It defers each call that a program
// runs, and each call that online selection chooses. The call runs at the outermost end of the group, after NCCL's part
// of the group. gc3 forwards all other calls at once. So every rank defers the same calls in the same order. gc3 also
// defers calls on a communicator that has not joined. At the outermost end, it decides whether a program or NCCL runs
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
  /// Ends one level of the group. At the outermost end, runs NCCL's part of the group. Then lets communicators join if
  /// they have not joined, and runs the deferred calls. Returns the first error. If NCCL's part fails, runs no deferred
  /// call.
  Result end();
  /// Ends one level of the group, but runs no call. At the outermost end, makes NCCL write its estimate for the group
  /// to `info`, including the deferred calls.
  Result simulateEnd(SimInfo *info);

  /// Runs a collective call on a communicator, forwards it to NCCL, or defers it.
  Result call(const CollectiveCall &call, std::shared_ptr<Communicator> communicator);

  /// Returns true if a deferred call uses operation `op`, which the application destroys. Then NCCL destroys the
  /// operation only at the end of the group.
  bool deferDestruction(RedOp op, Comm comm);

  /// A registration of memory as a window, which the application has made.
  struct Registration {
    std::shared_ptr<Communicator> communicator;
    const void *memory;
    uint64_t bytes;
    Window *window; ///< NCCL stores the handle here
  };
  /// Adds a window to its communicator. If the thread has an open group, NCCL registers the window at the outermost
  /// end, so this function adds it there. `result` is the result of NCCL's function.
  void addWindow(Registration registration, Result result);

  /// Forwards the deferred calls on `comm` to NCCL, which runs them in its part of the group. Call this before `comm`
  /// is finalized or destroyed.
  void forwardCallsOn(Comm comm);
  /// Drops the deferred calls on `comm`. Call this before `comm` is aborted.
  void dropCallsOn(Comm comm);

private:
  struct Deferred {
    CollectiveCall call;
    std::shared_ptr<Communicator> communicator;
    std::optional<comm::CallChoice> choice{}; ///< no value: not decided, because the communicator has not joined
  };
  struct Operation {
    RedOp op;
    Comm comm;
    std::shared_ptr<Communicator> communicator;
  };

  Result finish(Result ncclResult);
  void addWindows(Result ncclResult);
  core::Outcome awaitNccl() const;
  Result runDeferred() const;
  template <typename Which>
  void forward(Which which);
  template <typename Which>
  void destroyOperations(Which which);

  uint32_t depth = 0;
  std::vector<Deferred> deferred;
  /// The communicators on which this group has forwarded a collective call to NCCL.
  std::vector<std::shared_ptr<Communicator>> forwardedTo;
  std::vector<Registration> registrations;
  std::vector<Operation> operations; ///< operations that the application has destroyed, but NCCL has not yet
  Result failure = Result::Success;  ///< the first error of forwarded calls
};

} // namespace gc3::shim
