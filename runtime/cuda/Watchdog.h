// SPDX-License-Identifier: Apache-2.0
// Detects grid blocks that stay in one call for too long, by reading the words that the blocks write to host memory. So
// it makes no CUDA call, and also detects hanging replays of graphs, which gc3 does not launch itself. The caller
// decides when to check. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace gc3::cuda {

class Watchdog {
public:
  using Clock = std::chrono::steady_clock;

  explicit Watchdog(std::chrono::milliseconds timeout) : timeout(timeout) {}

  /// Adds blocks. `running` has the word of each block (kernel::KernelArgs::running), and must outlive this object.
  void add(std::span<const uint64_t> running);

  /// Returns whether a block has been in one call for the timeout or longer, counted from the first check that saw the
  /// call.
  bool isStuck(Clock::time_point now);
  /// Returns whether no block is in a call.
  bool isIdle() const;

private:
  struct Block {
    const uint64_t *running;
    uint64_t number = 0;     ///< value at the last check
    Clock::time_point since; ///< time of the check that first saw this value
    uint64_t current() const { return __atomic_load_n(running, __ATOMIC_ACQUIRE); }
  };

  const std::chrono::milliseconds timeout;
  std::vector<Block> blocks;
};

} // namespace gc3::cuda
