// SPDX-License-Identifier: Apache-2.0
// Makes input data from a hash of (seed, rank, element), so that every chunk of every rank differs from all others. A
// rank is busy at an element if it contributes a value there that is not neutral. If a reduction lacks a busy rank's
// contribution, or has it twice, the result differs by more than the tolerance of the check (Reference.h).
//
// If not all ranks can be busy at once, they take turns. At element e of round q, `busy` ranks are busy: those from
// rank busy * (e + q * window) on, modulo the number of ranks. `window` is the length of the shortest chunk. Each rank
// is busy once in any ceil(ranks / busy) consecutive elements or rounds.
//
// Two cases are not covered. One is avg of int8 on more than 64 ranks and of uint8 on more than 128, where the quotient
// of one contribution is 0. The other is an output chunk that contains several chunks of one rank. It has more busy
// operands than this code counts, so the roundings of a coarse type can hide one of them.
#pragma once

#include "Reduction.h"

#include <algorithm>
#include <cstdint>

namespace gc3::run {

/// The check for which the values are made.
enum class Purpose : uint8_t {
  Copy, ///< any finite value
  Sum,  ///< narrow floats: small whole numbers with exact sums, 0 if not busy; other floats: 0.5 .. 1; integers: not 0
  MulSum, ///< like Sum, also after every other rank has multiplied its values by 2
  Avg,    ///< narrow floats: 128 .. 192, normal after the division by up to 8192 ranks; integers: change the quotient
  Prod,   ///< floats: 0.5 .. 0.75 and 1.5 .. 1.75, 1 on ranks that are not busy; integers odd, not 1
  Max,    ///< the busy rank has the largest value
  Min,    ///< the busy rank has the smallest value
};

constexpr Purpose purposeOf(Reduction op, bool reduces) {
  constexpr Purpose purposes[reductionCount] = {Purpose::Sum, Purpose::Prod, Purpose::Max,
                                                Purpose::Min, Purpose::Avg,  Purpose::MulSum};
  return reduces ? purposes[static_cast<uint8_t>(op)] : Purpose::Copy;
}

/// Returns the magnitude up to which all whole numbers are exact in a float of at most 16 bits; 0 for other types.
constexpr uint32_t wholeNumbers(core::ElementType type) {
  switch (type) {
  case core::ElementType::Half: return 2048;
  case core::ElementType::Bfloat16: return 256;
  case core::ElementType::Float8E4M3: return 16;
  case core::ElementType::Float8E5M2: return 8;
  case core::ElementType::Int8:
  case core::ElementType::Uint8:
  case core::ElementType::Int32:
  case core::ElementType::Uint32:
  case core::ElementType::Int64:
  case core::ElementType::Uint64:
  case core::ElementType::Float:
  case core::ElementType::Double: break;
  }
  return 0;
}

/// Returns how many ranks are busy at each element, 1 to `ranks`. Under max and min, the busy rank has the extreme
/// value. With so few busy ranks, the rounding errors of a reduction stay below one contribution.
constexpr uint32_t busyRanks(core::ElementType type, Purpose purpose, uint32_t ranks) {
  uint32_t whole = wholeNumbers(type), most = ranks;
  switch (purpose) {
  case Purpose::Copy: break;
  case Purpose::Sum: most = whole ? whole / 2 : ranks; break;
  case Purpose::MulSum: most = whole ? whole / 4 : ranks; break;
  case Purpose::Avg: most = whole == 2048 ? 16 : whole == 256 ? 8 : whole == 16 ? 2 : whole == 8 ? 1 : ranks; break;
  case Purpose::Prod: most = core::isInteger(type) ? ranks : whole != 0 && whole <= 16 ? 2 : 8; break;
  case Purpose::Max:
  case Purpose::Min: most = 1; break;
  }
  return std::max(1u, std::min(most, ranks));
}

struct InputKind {
  core::ElementType type;
  Purpose purpose;
  uint32_t ranks;
  uint32_t contributions; ///< divisor of averages
  uint64_t seed;
  uint64_t roundOffset; ///< q * window, for round q
};

/// Writes `count` elements of `rank`'s input to `data`, from element `first` on.
void makeInput(const InputKind &kind, void *data, uint64_t first, uint64_t count, uint32_t rank);

} // namespace gc3::run
