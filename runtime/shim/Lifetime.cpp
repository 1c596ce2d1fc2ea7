// SPDX-License-Identifier: Apache-2.0
// NCCL's exported functions that end communicators or query their state.
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;
using gc3::comm::Registry;

/// Finalizes gc3's part, before NCCL finalizes or destroys a communicator. Returns false if NCCL must not get the call:
/// another thread has aborted the communicator, or NCCL still creates its child.
static bool finalize(Comm comm, bool waits) {
  Group::ofThisThread().forwardCallsOn(comm);
  Interposer::ofProcess().removeOperations(comm);
  const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
  return !communicator || communicator->finalize(waits);
}

/// Ends gc3's part of a communicator, then NCCL's part by `callNccl`. NCCL frees a communicator even while a thread
/// splits it, so a revocation ends the split first. In a group, NCCL frees the communicator at the group's end, and
/// would run a revocation concurrently. There the abort itself ends the split.
template <typename CallNccl>
static Result abort(Comm comm, const std::shared_ptr<Communicator> &communicator, const CallNccl &callNccl) {
  Group::ofThisThread().dropCallsOn(comm);
  const bool isSplitting = communicator && communicator->abort(), isInGroup = Group::ofThisThread().isOpen();
  if (isSplitting && !isInGroup) {
    callInstalled<Function::CommRevoke>(comm, 0);
    communicator->awaitSplit();
  }
  const Result result = callNccl();
  if (isSplitting && isInGroup)
    communicator->awaitSplit();
  return result;
}

extern "C" {

Result ncclCommShrink(Comm parent, int *excluded, int excludedCount, Comm *child, Config *config, int flags) {
  const auto shrink = [&] {
    return callInstalled<Function::CommShrink>(parent, excluded, excludedCount, child, config, flags);
  };
  if (isInsideNccl() || (flags & shrinkAbort) == 0)
    return shrink();
  return guarded([&] {
    const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(parent);
    const Result result = abort(parent, communicator, shrink);
    if (communicator)
      communicator->releaseUnlessPending();
    return result;
  });
}

/// Waits until all calls on a blocking communicator have ended. Returns the first error of a failed call.
Result ncclCommFinalize(Comm comm) {
  if (isInsideNccl())
    return callInstalled<Function::CommFinalize>(comm);
  return guarded([&] {
    const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
    const bool wasAborted = communicator && communicator->status().isAborted();
    if (!finalize(comm, false))
      return Result::InvalidUsage;
    const Result result = callInstalled<Function::CommFinalize>(comm);
    if (result != Result::Success || !communicator || wasAborted)
      return result;
    communicator->finalize(true);
    return resultOf(communicator->status().error);
  });
}

Result ncclCommDestroy(Comm comm) {
  if (isInsideNccl())
    return callInstalled<Function::CommDestroy>(comm);
  return guarded([&] {
    const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
    if (!finalize(comm, true))
      return Result::InvalidUsage;
    Registry::ofProcess().remove(comm);
    const Result result = callInstalled<Function::CommDestroy>(comm);
    if (communicator)
      communicator->release(); // does nothing unless finalize() has aborted it
    return result;
  });
}

Result ncclCommAbort(Comm comm) {
  if (isInsideNccl())
    return callInstalled<Function::CommAbort>(comm);
  return guarded([&] {
    const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
    const Result result = abort(comm, communicator, [&] {
      Interposer::ofProcess().removeOperations(comm);
      Registry::ofProcess().remove(comm);
      return callInstalled<Function::CommAbort>(comm);
    });
    if (communicator)
      communicator->release();
    return result;
  });
}

/// Makes the only revocation, because a second one is an error.
Result ncclCommRevoke(Comm comm, int flags) {
  if (isInsideNccl())
    return callInstalled<Function::CommRevoke>(comm, flags);
  return guarded([&] {
    Group::ofThisThread().dropCallsOn(comm);
    const std::shared_ptr<Communicator> aborted = Interposer::ofProcess().find(comm);
    const bool isSplitting = aborted && aborted->abort();
    const Result result = callInstalled<Function::CommRevoke>(comm, flags);
    if (isSplitting)
      aborted->awaitSplit(); // the application can free the communicator after this call
    if (aborted)
      aborted->releaseUnlessPending(); // the communicator can refer to a child that NCCL creates
    return result;
  });
}

Result ncclCommGetAsyncError(Comm comm, Result *error) {
  // Adds the communicator: a query must not overlap with a query of the executor, which the first call starts.
  const std::shared_ptr<Communicator> communicator =
      isInsideNccl() || !error ? nullptr : Interposer::ofProcess().findOrAdd(comm);
  if (!communicator)
    return callInstalled<Function::CommGetAsyncError>(comm, error);
  return guarded([&] { return communicator->queryState(*error); });
}

} // extern "C"
