// SPDX-License-Identifier: Apache-2.0
// One rank of gc3's own NCCL communicator: a child of the application's communicator, with the same ranks in the same
// order. gc3 makes all its set-up calls on the child, so NCCL never matches them with the application's calls. gc3 can
// abort the child without a call on the application's handle.
//
// The child is non-blocking, so a thread waits for other ranks in gc3 and not in NCCL. Such a wait ends early with the
// error that `checkInterruption` returns, and NCCL can abort the child because no thread is inside it. Only the split
// of a blocking parent waits in NCCL. An abort or revocation of the parent ends the split.
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
  /// Returns an error if waits must end, else a success.
  using CheckInterruption = std::function<core::Outcome()>;

  /// The tables must outlive this object.
  ChildCommunicator(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, CheckInterruption checkInterruption)
      : cuda(cuda), nccl(nccl), checkInterruption(std::move(checkInterruption)) {}
  ChildCommunicator(const ChildCommunicator &) = delete;
  ChildCommunicator &operator=(const ChildCommunicator &) = delete;

  /// Queries the state of the application's communicator. Returns an error if gc3 must make no further call on it.
  using QueryParent = std::function<ncclapi::Result(ncclapi::Result &state)>;

  /// Waits until NCCL has created the parent, if the parent is non-blocking.
  core::Outcome awaitParent(const QueryParent &queryParent) const;
  /// Splits `parent`, and waits until all ranks have split it. `rank` is the rank in the parent.
  core::Outcome create(ncclapi::Comm parent, int rank, const QueryParent &queryParent);
  /// Returns true while NCCL creates the child: create() is running, or was interrupted.
  bool isPending() const { return creation != Creation::None; }
  /// Returns true if a thread is in NCCL's split, or is about to enter it. The split of a blocking parent waits there.
  bool isSplitting() const { return creation == Creation::Splitting; }

  /// Returns the child; null if there is none.
  ncclapi::Comm get() const { return child; }
  /// Returns the communicator to register windows with: the LSA team's after splitByTeam(), else the child.
  ncclapi::Comm windowComm() const { return teamChild ? teamChild : get(); }
  ncclapi::Team lsaTeam() const { return nccl.TeamLsa(child); }

  /// Allocates memory and an event for gathers on the current device. `mostBytes` bounds one rank's contribution.
  core::Outcome prepareGathers(uint32_t ranks, size_t mostBytes);
  /// Gathers one object of each rank, by rank. Copies the bytes of objects between processes.
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

  /// Waits until NCCL has completed a call on the child that returned `result`. Returns the call's error, with the text
  /// `doing`. The memory that NCCL writes to must stay valid until then, or until abort().
  core::Outcome complete(ncclapi::Result result, const std::string &doing) const;
  /// Returns the error that NCCL reports for the child; a success if there is no error or no child.
  core::Outcome asyncError() const;

  /// Destroys the created communicators, as all ranks do. Can wait for the other ranks.
  void destroy();
  /// Aborts the created communicators. Can wait for NCCL's kernels.
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
  ncclapi::Comm newChild = nullptr, newTeamChild = nullptr; ///< NCCL writes these until a split is complete
  uint32_t ranks = 0;
  size_t bytesPerRank = 0;   ///< size of one rank's contribution
  cuda::DeviceMemory memory; ///< this rank's contribution, then the contributions of all ranks
  cuda::OwnEvent gathered;
};

} // namespace gc3::comm
