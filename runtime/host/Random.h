// SPDX-License-Identifier: Apache-2.0
// A small random number generator. Its sequence is the same on every machine, which the distributions of the C++
// standard library do not promise. It mixes the bits of a Weyl sequence.
#pragma once

#include <cstdint>

namespace gc3::host {

/// Mixes 64 bits so that each input bit affects about half of the output bits.
constexpr uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() { return mixBits(state += 0x9e3779b97f4a7c15ull); }
  /// Returns a number in 0 .. bound - 1. `bound` must be at least 1, and small compared to 2^64.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

} // namespace gc3::host
