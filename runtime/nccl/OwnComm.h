// SPDX-License-Identifier: Apache-2.0
// What an application's communicator that does not block, on some rank, needs of us. NCCL goes on with its calls by
// itself, so we wait for that where programs come behind them. And engines wait for NCCL's calls to be done, so they
// take a communicator of our own with the same ranks, which blocks. It is made when all ranks make their first
// collective call, since each learns at a time of its own that the application's is ready.
#pragma once

#include "nccl/Engine.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace gc3::nccl {

class OwnComm {
public:
  /// The parent may block itself, if it is a child of one that does not, or on this rank.
  OwnComm(Comm parent, bool parentMayBlock, const Patience &patience);
  ~OwnComm() { leave(); }
  OwnComm(const OwnComm &) = delete;
  OwnComm &operator=(const OwnComm &) = delete;

  /// Waits while NCCL goes on with what it was told of the parent. Success: it takes calls on it. InProgress: that took
  /// too long.
  Result settle() const;

  /// The parent's state, by NCCL. Of two threads that hear at once that something has been done NCCL frees it twice.
  Result ask(Result &state) const;

  /// NCCL's state of the one beside it, which is Success where there is none.
  Result askOwn(Result &state) const;

  /// By all ranks of the parent, each in another thread: waits until all have come, or abort(). If that takes too
  /// long it is as if aborted: the others may come yet, and wait for programs here. Throws std::system_error where a
  /// thread is needed, and there is none.
  Result make(int rank, const Engine &engine);
  /// Null: there is none.
  Comm get() const;
  /// Nothing of it is used any more.
  void leave();

  /// As abort(), where calls on the parent fail from now on: others may have made theirs.
  void giveUp();
  bool hasGivenUp() const { return isGivenUp; }
  /// NCCL is still making it in a thread, so only an abort of the parent may free that.
  bool isBeingMade() const;

  /// Before the parent is aborted, by any thread: nothing of it is touched any more. What waits in NCCL for other ranks
  /// ends, in a thread of its own, since NCCL waits for kernels there that may hang.
  void abort();
  bool isAborted() const { return *aborted; }
  /// For who uses it.
  AbortFlag abortFlag() const { return aborted; }

private:
  struct Split;
  Result begin(int rank, const Engine &engine);
  template <typename Ask>
  Result settle(Ask ask, const char *question) const;

  const Comm parent;
  const bool parentMayBlock;
  const Patience patience;
  const AbortFlag aborted = std::make_shared<std::atomic<bool>>(false); ///< by abort() under the mutex
  std::atomic<bool> isGivenUp{false};
  mutable std::mutex mutex; ///< held where the parent is touched, but not while it blocks
  const std::shared_ptr<Split> split;
  Comm comm = nullptr; ///< once all ranks have come
};

} // namespace gc3::nccl
