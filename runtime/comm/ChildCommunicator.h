// SPDX-License-Identifier: Apache-2.0
// gc3's own NCCL communicator of one rank: a child of the application's, with the same ranks in the same order. gc3
// makes all its set-up calls on the child, so they never meet the application's calls, and it can abort the child
// without touching a handle of the application.
//
// The child does not block, so a thread waits for other ranks here and not in NCCL: such a wait ends early with the
// error that `checkInterruption` returns, and NCCL can abort a communicator that no thread is inside. Only the split of
// a parent that blocks waits in NCCL; abort or revocation of the parent ends it.
//
// Not thread-safe, except get(), isPending() and isSplitting(): the executor thread of the rank makes all other calls.
#pragma once

#include "cuda/Resources.h"
#include "ncclapi/Nccl.h"

#include <atomic>
#include <functional>
#include <vector>

namespace gc3::comm {

class ChildCommunicator {
public:
  /// Returns an error once waits must end; a success until then.
  using CheckInterruption = std::function<core::Outcome()>;

  /// The tables must outlive this object.
  ChildCommunicator(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, CheckInterruption checkInterruption)
      : cuda(cuda), nccl(nccl), checkInterruption(std::move(checkInterruption)) {}
  ChildCommunicator(const ChildCommunicator &) = delete;
  ChildCommunicator &operator=(const ChildCommunicator &) = delete;

  /// Queries the state of the application's communicator. Returns an error once it must not be touched.
  using QueryParent = std::function<ncclapi::Result(ncclapi::Result &state)>;

  /// Waits until NCCL has made the parent, if that does not block.
  core::Outcome awaitParent(const QueryParent &queryParent) const;
  /// Splits `parent`, and waits until all ranks have done so. `rank` is the rank in the parent.
  core::Outcome create(ncclapi::Comm parent, int rank, const QueryParent &queryParent);
  /// NCCL still creates the child: create() is under way, or was interrupted.
  bool isPending() const { return creation != Creation::None; }
  /// A thread is in NCCL's split, or about to be. If the parent blocks, the split waits there.
  bool isSplitting() const { return creation == Creation::Splitting; }

  /// Null if there is no child.
  ncclapi::Comm get() const { return child; }
  /// The communicator that windows are registered with: that of the rank's LSA team after splitByTeam().
  ncclapi::Comm windowComm() const { return teamChild ? teamChild : get(); }
  ncclapi::Team lsaTeam() const { return nccl.TeamLsa(child); }

  /// Allocates what gathers need on the current device. `mostBytes` bounds one rank's contribution.
  core::Outcome prepareGathers(uint32_t ranks, size_t mostBytes);
  /// Gathers one object of each rank, by rank. Objects cross processes as they are.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own, cuda::Stream stream) {
    std::vector<T> all(ranks);
    if (core::Outcome outcome = gather(&own, sizeof own, all.data(), stream); !outcome.ok())
      return outcome;
    return all;
  }

  /// Creates a communicator for each LSA team, from the child's; all ranks of the child make this call together. `team`
  /// is that of this rank, whose rank in the child is `rank`.
  core::Outcome splitByTeam(int rank, const ncclapi::Team &team);

  /// Waits until NCCL has completed a call on the child that returned `result`. Returns its error, after `doing`. What
  /// NCCL writes must stay where it is until then, or until abort().
  core::Outcome complete(ncclapi::Result result, const std::string &doing) const;
  /// The error that NCCL reports of the child; a success if there is none, or no child.
  core::Outcome asyncError() const;

  /// Destroys what has been created, as all ranks do. Can wait for them.
  void destroy();
  /// Aborts what has been created. Can wait for NCCL's kernels.
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
  ncclapi::Comm newChild = nullptr, newTeamChild = nullptr; ///< by NCCL, at any time until a split is complete
  uint32_t ranks = 0;
  size_t bytesPerRank = 0;   ///< bytes
  cuda::DeviceMemory memory; ///< the rank's contribution, then those of all
  cuda::OwnEvent gathered;
};

} // namespace gc3::comm
