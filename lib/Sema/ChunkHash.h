// SPDX-License-Identifier: Apache-2.0
// Fingerprints of multisets of input chunks. Each chunk has a random-looking 128-bit number. The fingerprint is the sum
// of these numbers, each half modulo 2^64, so adding two fingerprints gives the fingerprint of the combined multiset. A
// fingerprint also has the number of chunks, which saturates, because 2^64 copies of a chunk would sum to zero.
#pragma once

#include <cstdint>
#include <limits>

namespace gc3::sema {

struct ChunkHash {
  uint64_t low = 0;
  uint64_t high = 0;
  uint32_t count = 0;

  bool operator==(const ChunkHash &) const = default;
  void add(const ChunkHash &other) {
    low += other.low;
    high += other.high;
    if (__builtin_add_overflow(count, other.count, &count))
      count = std::numeric_limits<uint32_t>::max();
  }
};

/// Permutes the 64-bit numbers. Every bit of the result depends on every bit of the argument.
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline ChunkHash hashOfInput(uint32_t rank, uint32_t index) {
  uint64_t key = uint64_t(rank) << 32 | index;
  return {mix(key), mix(mix(key) ^ 0x6a09e667f3bcc908), 1};
}

} // namespace gc3::sema
