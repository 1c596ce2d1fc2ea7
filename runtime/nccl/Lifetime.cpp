// SPDX-License-Identifier: Apache-2.0
// Births, deaths and errors of communicators, as NCCL exports them.
#include "nccl/Group.h"
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Guarded.h"

using namespace gc3::nccl;

/// Makes communicators by `F`, and notes those that were asked for.
template <Function F, typename... Args>
static Result make(Comm *handles, int count, const Config *config, Comm parent, Args... args) {
  if (isInside() || !Communicators::table().active())
    return callInstalled<F>(args...);
  return guarded([&] {
    Communicators &table = Communicators::table();
    const Blocking ofParent = table.blocking(parent);                      // which may be gone afterwards
    const bool mayBlock = config ? config->blocking != 0 : ofParent.maybe; // they inherit all of it or nothing
    const Result result = callInstalled<F>(args...);
    if (result != Result::Success && result != Result::InProgress)
      return result;
    // Those get their handles when NCCL has made them: with a parent that does not block some time later, whatever
    // the result is.
    constexpr bool isLate = F == Function::CommSplit || F == Function::CommShrink;
    if (isLate && !ofParent.surely) {
      for (int i = 0; i < count; ++i)
        table.expect(mayBlock);
      return result;
    }
    // No rank of a grown one knows whether it blocks on those that were there before, or on the new ones.
    const Blocking blocking{mayBlock, mayBlock, F == Function::CommGrow || ofParent.differs};
    std::vector<Birth> births;
    for (int i = 0; i < count; ++i)
      births.push_back(
          {isLate ? nullptr : handles[i], isLate ? &handles[i] : nullptr, blocking, result == Result::Success});
    Group::ofThisThread().born(births);
    return result;
  });
}

/// Before NCCL finalizes a communicator, or destroys it and so `awaits` that: gives back what we hold of it. Not
/// Success: it has been aborted meanwhile, and NCCL may have freed it.
static Result letGo(Comm comm, bool awaits) {
  if (isInside() || !comm)
    return Result::Success;
  return guarded([&] {
    Group::ofThisThread().handOver(comm);
    Communicators &table = Communicators::table();
    return table.release(comm, awaits) && (!awaits || table.awaitRelease(comm)) ? Result::Success
                                                                                : Result::InvalidUsage;
  });
}

/// Before NCCL stops what runs on a communicator: stops what we run. True: the engine has revoked it before.
static bool stop(Comm comm) {
  bool isRevoked = false;
  if (!isInside() && comm)
    guarded([&] {
      Group::ofThisThread().drop(comm);
      isRevoked = Communicators::table().abort(comm);
      return Result::Success;
    });
  return isRevoked;
}

extern "C" {

Result ncclCommInitRank(Comm *comm, int ranks, UniqueId id, int rank) {
  return make<Function::CommInitRank>(comm, 1, nullptr, nullptr, comm, ranks, id, rank);
}

Result ncclCommInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  return make<Function::CommInitRankConfig>(comm, 1, config, nullptr, comm, ranks, id, rank, config);
}

Result ncclCommInitRankScalable(Comm *comm, int ranks, int rank, int idCount, UniqueId *ids, Config *config) {
  return make<Function::CommInitRankScalable>(comm, 1, config, nullptr, comm, ranks, rank, idCount, ids, config);
}

Result ncclCommInitAll(Comm *comms, int devices, const int *devlist) {
  return make<Function::CommInitAll>(comms, devices, nullptr, nullptr, comms, devices, devlist);
}

Result ncclCommSplit(Comm parent, int color, int key, Comm *child, Config *config) {
  const int count = color >= 0; // else this process has no part in it
  return make<Function::CommSplit>(child, count, config, parent, parent, color, key, child, config);
}

Result ncclCommShrink(Comm parent, int *excluded, int excludedCount, Comm *child, Config *config, int flags) {
  if (flags & shrinkAbort)
    stop(parent);
  return make<Function::CommShrink>(child, 1, config, parent, parent, excluded, excludedCount, child, config, flags);
}

Result ncclCommGrow(Comm parent, int ranks, const UniqueId *id, int rank, Comm *child, Config *config) {
  return make<Function::CommGrow>(child, 1, config, parent, parent, ranks, id, rank, child, config);
}

Result ncclCommFinalize(Comm comm) {
  const auto stateOfRelease = [&] { return Communicators::table().stateOfRelease(comm); };
  Result released = letGo(comm, false);
  if (!isInside() && released == Result::Success)
    released = guarded(stateOfRelease);
  const bool goesOn = released == Result::Success || released == Result::InProgress;
  return goesOn ? callInstalled<Function::CommFinalize>(comm) : released;
}

Result ncclCommDestroy(Comm comm) {
  const Result released = letGo(comm, true);
  return released == Result::Success ? callInstalled<Function::CommDestroy>(comm) : released;
}

Result ncclCommAbort(Comm comm) {
  stop(comm);
  letGo(comm, false);
  return callInstalled<Function::CommAbort>(comm);
}

/// A second time would be an error, of which the application is not to know.
Result ncclCommRevoke(Comm comm, int flags) {
  if (stop(comm) && flags == 0)
    return Result::Success;
  return callInstalled<Function::CommRevoke>(comm, flags);
}

Result ncclCommGetAsyncError(Comm comm, Result *error) {
  if (isInside() || !error)
    return callInstalled<Function::CommGetAsyncError>(comm, error);
  return guarded([&] { return Communicators::table().state(comm, *error); });
}

} // extern "C"
