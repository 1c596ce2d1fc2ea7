// SPDX-License-Identifier: Apache-2.0
// For how long ranks of a thread wait for others inside NCCL. The first gather on a communicator makes it connect its
// ranks at the end of the group, on the host, until all have come; it looks at nothing of ours there, but ends if the
// communicator is revoked.
#pragma once

#include "cuda/PeriodicThread.h"
#include "lsa/Rank.h"

#include <atomic>
#include <span>

namespace gc3::lsa {

class Deadline {
public:
  /// From now on, as long as this lives; all ranks wait equally long.
  explicit Deadline(std::span<Rank *const> ranks);

  /// Once others have come, or NCCL has given up: nothing is revoked any more. Not ok: the ranks' communicators have
  /// been, as others had not come.
  core::Outcome outcome() { return end(Stage::Kept) || stage == Stage::Kept ? core::Outcome{} : ranks[0]->late(); }

private:
  enum class Stage : uint8_t { Open, Kept, Passed };
  /// One of the two ways, by who comes first.
  bool end(Stage way) {
    Stage open = Stage::Open;
    return stage.compare_exchange_strong(open, way);
  }

  const std::span<Rank *const> ranks;
  std::atomic<Stage> stage{Stage::Open};
  cuda::PeriodicThread watcher; ///< ends first
};

} // namespace gc3::lsa
