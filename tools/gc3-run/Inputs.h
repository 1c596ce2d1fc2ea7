// SPDX-License-Identifier: Apache-2.0
// Input data: a hash of (seed, rank, element), so that every chunk of every rank differs from every other.
#pragma once

#include "host/Element.h"

#include <cstdint>

namespace gc3::run {

/// What the values have to be good for.
enum class Purpose : uint8_t {
  Copy, ///< any finite value
  Sum,  ///< magnitudes in 0.5 .. 1; narrow types: zero on all but `busyRanks` ranks per element, so that few additions
        ///< round
  Prod, ///< magnitudes in 0.5 .. 2 on `busyRanks` ranks per element, 1 elsewhere; integers odd
};

/// Ranks per element whose value is not neutral, where that is restricted.
constexpr uint32_t busyRanks(host::ElementType type) {
  return type >= host::ElementType::Float8E4M3 ? 2 : 4;
}

/// Whether only some ranks have values that are not neutral.
constexpr bool isSparse(host::ElementType type, Purpose purpose) {
  using host::ElementType;
  if (host::isInteger(type) || purpose == Purpose::Copy)
    return false;
  return purpose == Purpose::Prod || (type != ElementType::Float && type != ElementType::Double);
}

/// Writes `count` elements of `rank`'s input, the first being element `first`.
void makeInput(host::ElementType type, Purpose purpose, void *data, uint64_t first, uint64_t count, uint32_t rank,
               uint32_t ranks, uint64_t seed);

} // namespace gc3::run
