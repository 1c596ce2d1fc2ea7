// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend only on the seed, not on the platform.
#pragma once

#include <cstdint>
#include <random>
#include <utility>

namespace gc3::greedy {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Returns a number from 0 to `end` - 1. `end` must not be 0. The distribution is slightly uneven.
  uint32_t below(uint32_t end) { return static_cast<uint32_t>((engine() >> 32) * end >> 32); }

  void shuffle(uint32_t *items, uint32_t count) {
    for (; count > 1; --count)
      std::swap(items[count - 1], items[below(count)]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace gc3::greedy
