// SPDX-License-Identifier: Apache-2.0
// Ends what NCCL runs on a communicator whose ranks have waited in vain: its kernels may wait for the same ranks as
// ours. It is NCCL's own abort but for the handle, which stays the application's; later calls of NCCL's are errors.
// Any thread may call.
#pragma once

#include "lsa/Aside.h"
#include "ncclapi/Nccl.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace gc3::lsa {

class Revocation {
public:
  Revocation(const ncclapi::Nccl &nccl, ncclapi::Comm comm, Aside aside) : nccl(nccl), comm(comm), aside(aside) {}

  /// Once; not where NCCL has no such thing. It may go on when this returns.
  void begin();
  bool hasBegun() const { return begun; }
  /// The communicator may be freed from here on: none begins, and one that was under way has ended.
  void end();
  /// Behind end().
  bool isDone() const;

private:
  /// Stays while one is under way.
  struct Turn {
    std::mutex mutex;
    bool over = false, done = false; ///< guarded by it
  };
  const ncclapi::Nccl &nccl;
  const ncclapi::Comm comm;
  const Aside aside;
  std::atomic<bool> begun{false};
  const std::shared_ptr<Turn> turn = std::make_shared<Turn>();
};

} // namespace gc3::lsa
