// SPDX-License-Identifier: Apache-2.0
// NCCL's groups, of one thread. NCCL is told of every start and end. Calls that a program serves are kept until the
// outermost end and run when NCCL has done its part of the group; the others reach NCCL when they are made. So each
// call is made once, by one of the two, and every rank keeps the same calls in the same order. Calls on communicators
// that wait for their first one are kept as well, as nobody knows yet who serves them.
#pragma once

#include "nccl/Communicators.h"

#include <vector>

namespace gc3::nccl {

class Group {
public:
  static Group &ofThisThread();

  bool isOpen() const { return depth != 0; }

  Result start();

  /// At the outermost end: NCCL's part; then engines take on the communicators made in the group; then the calls kept.
  /// Gives the first error. If NCCL's part fails, none of the group's calls is made.
  Result end();

  /// NCCL's estimate of the group, for which it gets the calls kept as well; nothing is run.
  Result simulateEnd(SimInfo *info);

  /// Keeps a call that a program serves, or one on a communicator that waits, and its communicator's entry. The group
  /// is open.
  void keep(const Work &work, std::shared_ptr<const Entry> entry);

  /// Notes that NCCL gets a call on a communicator, if the group is open: programs come behind it.
  void pass(const Entry &entry);

  /// Communicators that exist when the group ends: now, if none is open.
  void born(std::span<const Birth> made);

  /// Whether NCCL has to keep an operation that is destroyed until it has been handed the calls kept with it, which it
  /// may yet be; NCCL destroys it afterwards.
  bool outlives(RedOp op, Comm comm);

  /// Before `comm` is finalized or destroyed: the calls kept for it go to NCCL's part of the group.
  void handOver(Comm comm);

  /// Before `comm` is aborted: the calls kept for it are made no more.
  void drop(Comm comm);

private:
  struct Passed {
    Comm comm;
    std::shared_ptr<OwnComm> own; ///< null where it blocks on all ranks
  };

  struct Operation {
    RedOp op;
    Comm comm;
  };

  Result finish(Result result);
  void makeReady();
  Result forwardUnserved();
  Result settle() const;
  void lose();
  template <typename Which>
  void forwardKept(Which which);
  void unmake(Comm comm);
  template <typename Which>
  void destroyOperations(Which which);

  uint32_t depth = 0;
  std::vector<Kept> kept;
  std::vector<Passed> passed; ///< calls that NCCL has got
  std::vector<Birth> births;
  std::vector<Operation> operations; ///< destroyed by the application, and not yet by NCCL
  Result failure = Result::Success;  ///< the first error of calls handed over
};

} // namespace gc3::nccl
