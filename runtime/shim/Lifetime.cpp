// SPDX-License-Identifier: Apache-2.0
// Defines NCCL's functions that end communicators or query their state. gc3 exports these functions.
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"
#include "shim/Names.h"

using namespace gc3::shim;
using gc3::comm::Registry;

/// Shuts down gc3's part of a communicator. Call this before NCCL finalizes or destroys the communicator. Returns false
/// if the application's call must not be forwarded to NCCL: another thread has aborted the communicator, or NCCL is
/// still creating its child.
static bool finalize(Comm comm, bool waits) {
  Group::ofThisThread().forwardCallsOn(comm);
  Interposer::ofProcess().removeOperations(comm);
  CommunicatorNames::ofProcess().remove(comm);
  const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().find(comm);
  return !communicator || communicator->finalize(waits);
}

/// Aborts gc3's part of a communicator. Then calls `callNccl`, which aborts NCCL's part. NCCL frees a communicator even
/// while a thread splits it. So if gc3 is splitting the communicator, a revocation ends the split first. Inside an NCCL
/// group there is no revocation, because NCCL would run it concurrently with the abort at the end of the group. There
/// the abort itself ends the split, and NCCL frees the communicator only at the end of the group.
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
    const Result result = callInstalled<Function::CommShrink>(parent, excluded, excludedCount, child, config, flags);
    return recordCreated(result, child, config);
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

/// If the communicator is blocking, waits until all calls on it have ended. Returns the first error of a failed call.
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
      communicator->release(); // does nothing unless the communicator was aborted
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
      CommunicatorNames::ofProcess().remove(comm);
      Registry::ofProcess().remove(comm);
      return callInstalled<Function::CommAbort>(comm);
    });
    if (communicator)
      communicator->release();
    return result;
  });
}

/// Unlike abort(), makes no revocation of its own before the call to NCCL, because a second revocation would be an
/// error.
Result ncclCommRevoke(Comm comm, int flags) {
  if (isInsideNccl())
    return callInstalled<Function::CommRevoke>(comm, flags);
  return guarded([&] {
    Group::ofThisThread().dropCallsOn(comm);
    const std::shared_ptr<Communicator> aborted = Interposer::ofProcess().find(comm);
    const bool isSplitting = aborted && aborted->abort();
    const Result result = callInstalled<Function::CommRevoke>(comm, flags);
    if (isSplitting)
      aborted->awaitSplit(); // because the application may free the communicator after this call
    if (aborted)
      aborted->releaseUnlessPending(); // keeps a child that NCCL is creating: `comm` can refer to it
    return result;
  });
}

Result ncclCommGetAsyncError(Comm comm, Result *error) {
  if (isInsideNccl() || !error)
    return callInstalled<Function::CommGetAsyncError>(comm, error);
  return guarded([&] {
    // Adds the communicator if it is new: its mutex keeps this query from overlapping with the executor's queries. The
    // first collective call starts the executor, maybe during this query.
    const std::shared_ptr<Communicator> communicator = Interposer::ofProcess().findOrAdd(comm);
    return communicator ? communicator->queryState(*error) : callInstalled<Function::CommGetAsyncError>(comm, error);
  });
}

} // extern "C"
