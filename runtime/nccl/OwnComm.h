// SPDX-License-Identifier: Apache-2.0
// A communicator of our own with the ranks of an application's one that does not block: engines wait for NCCL's calls
// to be done, so they take those that do. It is made when all ranks make their first collective call, since each learns
// at a time of its own that the application's is ready.
#pragma once

#include "nccl/Abi.h"

#include <memory>
#include <mutex>

namespace gc3::nccl {

class OwnComm {
public:
  explicit OwnComm(Comm parent) : parent(parent) {}
  /// Nothing of it is used any more.
  ~OwnComm();
  OwnComm(const OwnComm &) = delete;
  OwnComm &operator=(const OwnComm &) = delete;

  /// Waits while NCCL goes on with what it was told of the parent. Success: it takes calls on it.
  Result settle() const { return settle(Result::InProgress); }

  /// By all ranks of the parent, in a group of NCCL's.
  Result create(int rank);
  /// When that group has ended, with this result: waits until all ranks have come, or abort().
  Result complete(Result group);
  /// Engines have been asked about it, which may have taken a while.
  void joined();

  /// Null: there is none.
  Comm get() const;

  /// Before the parent is aborted, by any thread: nothing of it is touched any more. What waits in NCCL for other ranks
  /// ends, in a thread of its own, since NCCL waits for kernels there that may hang; but while an engine is asked only
  /// when that has ended.
  void abort();
  bool isAborted() const;

private:
  Result settle(Result state) const;
  void end();

  const Comm parent;
  mutable std::mutex mutex; ///< held where the parent is touched
  bool aborted = false;
  bool exists = false, joining = false;
  std::unique_ptr<Comm> comm = std::make_unique<Comm>(); ///< NCCL writes it when all ranks have come
};

} // namespace gc3::nccl
