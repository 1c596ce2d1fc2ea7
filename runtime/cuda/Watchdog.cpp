// SPDX-License-Identifier: Apache-2.0
#include "cuda/Watchdog.h"

#include <algorithm>
#include <utility>

namespace gc3::cuda {

void Watchdog::add(std::span<const uint64_t> running) {
  for (const uint64_t &word : running)
    blocks.push_back({&word, 0, {}});
}

bool Watchdog::isStuck(Clock::time_point now) {
  bool stuck = false;
  for (Block &block : blocks) {
    const uint64_t current = block.current();
    if (std::exchange(block.number, current) != current)
      block.since = now;
    stuck |= current != 0 && now - block.since >= timeout;
  }
  return stuck;
}

bool Watchdog::isIdle() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const Block &block) { return block.current() == 0; });
}

} // namespace gc3::cuda
