// SPDX-License-Identifier: Apache-2.0
// The losses that a rank knows. Readers need no lock and no system call.
#pragma once

#include "job/Loss.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace gc3::job {

/// Thread-safe. All pointers stay valid as long as the object.
class LossBoard {
public:
  explicit LossBoard(uint32_t ranks) : byRank(ranks) {}

  uint32_t ranks() const { return static_cast<uint32_t>(byRank.size()); }

  /// Returns the first loss of the kind `Ended` or `Failed`, or null.
  const Loss *first() const noexcept { return firstLoss.load(std::memory_order_acquire); }
  /// Returns the loss of a rank, or null.
  const Loss *of(uint32_t rank) const noexcept { return byRank[rank].load(std::memory_order_acquire); }
  /// Returns the first loss of any kind, or null.
  const Loss *any() const noexcept { return anyLoss.load(std::memory_order_acquire); }

  /// Returns false if the rank has a loss, which stays.
  bool add(Loss loss);

private:
  /// Alone on its cache line, which threads poll.
  alignas(64) std::atomic<const Loss *> firstLoss = nullptr;
  alignas(64) std::atomic<const Loss *> anyLoss = nullptr;
  std::vector<std::atomic<const Loss *>> byRank;
  std::mutex mutex; ///< of writers
  std::deque<Loss> losses;
};

} // namespace gc3::job
