// SPDX-License-Identifier: Apache-2.0
// For how long ranks of a thread wait for others inside NCCL. The first gather on a communicator makes it connect its
// ranks at the end of the group, on the host, until all have come; it looks at nothing of ours there, but ends if the
// communicator is revoked.
#pragma once

#include "cuda/Watcher.h"
#include "lsa/Rank.h"

#include <atomic>
#include <span>

namespace gc3::lsa {

class Deadline {
public:
  /// From now on, as long as this lives; all ranks wait equally long.
  explicit Deadline(std::span<Rank *const> ranks);

  /// Not ok: the ranks' communicators have been revoked, as others had not come.
  host::Outcome outcome() const { return hasPassed ? ranks[0]->late() : host::Outcome{}; }

private:
  const std::span<Rank *const> ranks;
  std::atomic<bool> hasPassed{false};
  cuda::Watcher watcher; ///< ends first
};

} // namespace gc3::lsa
