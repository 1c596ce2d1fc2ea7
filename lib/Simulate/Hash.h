// SPDX-License-Identifier: Apache-2.0
// A hash of numbers, in their order. Equal hashes only suggest equal values, so the values must be compared, too.
#pragma once

#include <bit>
#include <cstdint>

namespace gc3::simulate {

class Hash {
public:
  void add(uint64_t value) {
    state = (state ^ value) * 0x9e3779b97f4a7c15ull;
    state = (state ^ (state >> 32)) * 0xd6e8feb86659fd93ull;
    state ^= state >> 29;
  }
  void add(double value) { add(std::bit_cast<uint64_t>(value)); }
  template <typename... Values>
  static uint64_t of(Values... values) {
    Hash hash;
    (hash.add(values), ...);
    return hash.state;
  }
  uint64_t value() const { return state; }

private:
  uint64_t state = 0x2545f4914f6cdd1dull;
};

} // namespace gc3::simulate
