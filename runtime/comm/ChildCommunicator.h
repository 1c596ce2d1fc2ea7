// SPDX-License-Identifier: Apache-2.0
// gc3's own NCCL communicator of one rank: a child of the application's, with the same ranks in the same order. gc3
// makes all its set-up calls on the child, so it never meets the application's calls, and it can revoke or abort the
// child without touching a handle of the application.
//
// The executor thread of the rank makes all calls, except get(), isPending() and revoke(), which any thread may call. A call that
// waits ends early with the error that `interrupted` returns.
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
  using Interrupted = std::function<core::Outcome()>;

  /// The tables must outlive this object.
  ChildCommunicator(const cuda::Cuda &cuda, const ncclapi::Nccl &nccl, Interrupted interrupted)
      : cuda(cuda), nccl(nccl), interrupted(std::move(interrupted)) {}
  ChildCommunicator(const ChildCommunicator &) = delete;
  ChildCommunicator &operator=(const ChildCommunicator &) = delete;

  /// Queries the state of the application's communicator; the first error says that it can't be queried any longer.
  using QueryParent = std::function<ncclapi::Result(ncclapi::Result &state)>;

  /// False if NCCL_COMM_BLOCKING makes children that do not block, which gc3 can't use. NCCL can set the variable from
  /// its own file when it creates the first communicator.
  static bool canBlock();

  /// Waits until NCCL has made the parent, if that does not block.
  core::Outcome awaitParent(const QueryParent &queryParent) const;
  /// Splits `parent`, and waits until all ranks have done so. `rank` is the rank in the parent.
  core::Outcome create(ncclapi::Comm parent, int rank, const QueryParent &queryParent);
  /// NCCL still creates the child: create() is under way, or was interrupted. Thread-safe.
  bool isPending() const { return pending; }

  /// Null if there is no child.
  ncclapi::Comm get() const { return ofAll; }
  /// The communicator that windows are registered with: that of the rank's LSA team after splitByTeam().
  ncclapi::Comm ofWindows() const { return ofTeam.load() ? ofTeam.load() : ofAll.load(); }
  ncclapi::Team lsaTeam() const { return nccl.TeamLsa(ofAll); }

  /// Allocates what gathers need on the current device. `mostBytes` bounds one rank's contribution.
  core::Outcome prepareGathers(uint32_t ranks, size_t mostBytes);
  /// Gathers `bytes` bytes of each rank to `all`, by rank, on `stream`.
  core::Outcome gather(const void *own, size_t bytes, void *all, cuda::Stream stream);
  /// The same for objects, which cross processes as they are.
  template <typename T>
  core::Result<std::vector<T>> gatherEach(const T &own, cuda::Stream stream) {
    std::vector<T> all(ranks);
    if (core::Outcome outcome = gather(&own, sizeof own, all.data(), stream); !outcome.ok())
      return outcome;
    return all;
  }

  /// Creates a communicator for each LSA team, from the child's; all ranks of the child make this call together.
  core::Outcome splitByTeam(int rank);

  /// What NCCL reports of the child; a success if there is none.
  core::Outcome asyncError() const;

  /// Ends what waits in NCCL for other ranks. Can wait for NCCL's kernels. Thread-safe.
  void revoke();
  /// Destroys what has been created. Can wait for other ranks.
  void destroy();
  /// Aborts what has been created; the executor thread has ended. Can wait for kernels.
  void abort();

private:
  void endAll(ncclapi::signature::CommDestroy *end);

  const cuda::Cuda &cuda;
  const ncclapi::Nccl &nccl;
  const Interrupted interrupted;
  std::atomic<ncclapi::Comm> ofAll{nullptr}, ofTeam{nullptr};
  ncclapi::Comm written = nullptr; ///< by NCCL, at any time until the split is complete
  std::atomic<bool> pending{false};
  uint32_t ranks = 0;
  size_t roomForOne = 0;     ///< bytes
  cuda::DeviceMemory memory; ///< the rank's contribution, then those of all
  cuda::OwnEvent gathered;
};

} // namespace gc3::comm
