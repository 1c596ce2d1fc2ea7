// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same everywhere for a seed.
#pragma once

#include <cstdint>
#include <random>
#include <utility>

namespace gc3::greedy {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// From 0 to below `end`, which is not 0; even enough for choices.
  uint32_t below(uint32_t end) { return static_cast<uint32_t>((engine() >> 32) * end >> 32); }

  void shuffle(uint32_t *items, uint32_t count) {
    for (; count > 1; --count)
      std::swap(items[count - 1], items[below(count)]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace gc3::greedy
