// SPDX-License-Identifier: Apache-2.0
// One rank of gc3's own NCCL communicator: a child of the application's communicator, with the same ranks in the same
// order. gc3 makes all its set-up calls on the child, so NCCL never matches these calls with calls of the application.
// gc3 can abort the child without a call on the application's handle.
//
// The child is non-blocking, so a thread that waits for other ranks waits in gc3, not in NCCL. If `checkInterruption`
// returns an error, the wait ends with this error. Then NCCL can abort the child, because no thread is inside NCCL. One
// wait is different: the split of a blocking parent waits in NCCL. An abort or revocation of the parent ends it.
//
// Not thread-safe, except get(), isPending() and isSplitting(). The rank's executor thread makes all other calls.
#pragma once

#include "cuda/Resources.h"
#include "ncclapi/Nccl.h"

#include <atomic>
#include <functional>
#include <vector>

namespace gc3::comm {

class ChildCommunicator {
public:
  /// Returns an error if waits for other ranks must end, else Success.
  using CheckInterruption = std::function<core::Outcome()>;

  /// `cuda` and `nccl` must outlive this object.
  ChildCommunicator(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, CheckInterruption checkInterruption)
      : cuda(cuda), nccl(nccl), checkInterruption(std::move(checkInterruption)) {}
  ChildCommunicator(const ChildCommunicator &) = delete;
  ChildCommunicator &operator=(const ChildCommunicator &) = delete;

  /// Queries the state of the application's communicator. Returns an error if gc3 must make no further call on that
  /// communicator.
  using QueryParent = std::function<ncclapi::Result(ncclapi::Result &state)>;

  /// Waits until NCCL has created the parent, if the parent is non-blocking.
  core::Outcome awaitParent(const QueryParent &queryParent) const;
  /// Splits `parent`, and waits until all ranks have split it. `rank` is this rank's number in the parent.
  core::Outcome create(ncclapi::Comm parent, int rank, const QueryParent &queryParent);
  /// Returns true while NCCL may still create the child: create() is running, or was interrupted.
  bool isPending() const { return creation != Creation::None; }
  /// Returns true if a thread is in NCCL's split, or is about to enter it. If the parent is blocking, the thread waits
  /// for other ranks there.
  bool isSplitting() const { return creation == Creation::Splitting; }

  /// Returns the child, or null if there is none.
  ncclapi::Comm get() const { return child; }
  /// Returns the communicator with which windows are registered: that of the LSA team after splitByTeam(), else the
  /// child.
  ncclapi::Comm windowComm() const { return teamChild ? teamChild : get(); }
  ncclapi::Team lsaTeam() const { return nccl.TeamLsa(child); }

  /// Allocates memory and an event for gathers on the current device. `mostBytes` is the largest size of one rank's
  /// contribution, in bytes.
  core::Outcome prepareGathers(uint32_t ranks, size_t mostBytes);
  /// Gathers one object from each rank, indexed by rank. NCCL copies the raw bytes of the objects, also between
  /// processes.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own, cuda::Stream stream) {
    std::vector<T> all(ranks);
    if (core::Outcome outcome = gather(&own, sizeof own, all.data(), stream); !outcome.ok())
      return outcome;
    return all;
  }

  /// Splits the child into one communicator for each LSA team. All ranks of the child make this call together. `team`
  /// is this rank's team, and `rank` its rank in the child.
  core::Outcome splitByTeam(int rank, const ncclapi::Team &team);

  /// Waits until NCCL has completed a call on windowComm() that returned `result`. Returns the call's error, with the
  /// text `doing`. The memory that NCCL writes to must stay valid until the call is complete, or until abort().
  core::Outcome complete(ncclapi::Result result, const std::string &doing) const;
  /// Returns an error if waits for other ranks must end, else Success.
  core::Outcome interruption() const { return checkInterruption(); }
  /// Returns the error that NCCL reports for the child; Success if there is no error or no child.
  core::Outcome asyncError() const;

  /// Destroys the child and the team's communicator. All ranks must call this. Can wait for the other ranks.
  void destroy();
  /// Aborts the child and the team's communicator. Can wait for NCCL's kernels.
  void abort();

private:
  enum class Creation : uint8_t { None, Splitting, Completing };
  core::Outcome completeOn(ncclapi::Comm comm, ncclapi::Result result, const std::string &doing) const;
  core::Outcome gather(const void *own, size_t bytes, void *all, cuda::Stream stream);
  void releaseMemory();

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const CheckInterruption checkInterruption;
  std::atomic<Creation> creation{Creation::None};
  std::atomic<ncclapi::Comm> child{nullptr};
  ncclapi::Comm teamChild = nullptr;
  ncclapi::Comm newChild = nullptr, newTeamChild = nullptr; ///< handles that NCCL may write until a split is complete
  uint32_t ranks = 0;
  size_t bytesPerRank = 0;   ///< size of one rank's contribution
  cuda::DeviceMemory memory; ///< this rank's contribution, then the contributions of all ranks
  cuda::OwnEvent gathered;
};

} // namespace gc3::comm
