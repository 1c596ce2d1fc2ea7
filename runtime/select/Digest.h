// SPDX-License-Identifier: Apache-2.0
// Digests of states and choices, which ranks compare. They detect faults, not forgery.
#pragma once

#include <cstdint>

namespace gc3::select {

/// Returns the digest of a sequence from the digest of all values but the last, and the last value. Two sequences that
/// differ in one value have different digests.
constexpr uint64_t mix(uint64_t digest, uint64_t value) {
  const uint64_t product =
      (digest ^ value) * 0x9e3779b97f4a7c15U; // odd, so that different factors give different products
  return product ^ product >> 32U;
}

} // namespace gc3::select
