// SPDX-License-Identifier: Apache-2.0
// Whether blocks of kernels have been in one call for too long, by what they say in host memory: so nothing of CUDA is
// asked, and replays of graphs, which nobody here launches, are seen as well. Who looks, and when, is somebody else's
// business. One thread at a time.
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

  /// More blocks, with what each says (kernel::KernelArgs::running); that has to stay.
  void add(std::span<const uint64_t> running);

  /// Whether a block has been in its call for as long as the timeout, counted from when it is first seen there.
  bool isStuck(Clock::time_point now);
  /// No block is in a call.
  bool isIdle() const;

private:
  struct Block {
    const uint64_t *running;
    uint64_t number = 0;     ///< when it was last looked at
    Clock::time_point since; ///< when that was new
    uint64_t current() const { return __atomic_load_n(running, __ATOMIC_ACQUIRE); }
  };

  const std::chrono::milliseconds timeout;
  std::vector<Block> blocks;
};

} // namespace gc3::cuda
