// SPDX-License-Identifier: Apache-2.0
// Two 32-bit numbers packed into one of 64, as the key of an llvm::DenseMap.
#pragma once

#include <cstdint>

namespace gc3 {

/// Hashes packed keys. LLVM's own hash of a 64-bit number uses only the lower half, so all keys that differ only in the
/// upper half would collide. The two largest 64-bit numbers are reserved and cannot be keys.
struct PackedKeyInfo {
  static uint64_t getEmptyKey() { return UINT64_MAX; }
  static uint64_t getTombstoneKey() { return UINT64_MAX - 1; }
  static unsigned getHashValue(uint64_t key) {
    return static_cast<unsigned>(((key ^ (key >> 32)) * 0xd6e8feb86659fd93ull) >> 32);
  }
  static bool isEqual(uint64_t a, uint64_t b) { return a == b; }
};

} // namespace gc3
