// SPDX-License-Identifier: Apache-2.0
// Input data: a hash of (seed, rank, element), so that every chunk of every rank differs from every other; and such
// that a reduction without one rank's contribution, or with one twice, differs by more than the tolerance of its check
// (Reference.h) at each element where that rank is busy.
//
// Where not all ranks can be, `busy` ranks take turns: on element e of round q those from busy * (e + q * window) on,
// modulo the number of ranks. Each is busy once in any ceil(ranks / busy) elements or rounds in a row.
//
// Out of reach: avg of int8 on more than 64 ranks and of uint8 on more than 128 (the quotient of a smaller sum is 0);
// a value that contains several chunks of one rank has more busy operands than counted here, so that coarse types may
// hide one of them.
#pragma once

#include "Reduction.h"

#include <algorithm>
#include <cstdint>

namespace gc3::run {

/// What the values have to be good for.
enum class Purpose : uint8_t {
  Copy,   ///< any finite value
  Sum,    ///< narrow floats: small whole numbers whose sums are exact, 0 on ranks that are not busy; others 0.5 .. 1;
          ///< integers not 0
  MulSum, ///< as Sum, also where every other rank's are doubled
  Avg,    ///< narrow floats: 128 .. 192, normal after the division by up to 8192 ranks; integers that change quotients
  Prod,   ///< floats: 0.5 .. 0.75 and 1.5 .. 1.75, 1 on ranks that are not busy; integers odd, not 1
  Max,    ///< the busy rank's is the largest
  Min,    ///< the busy rank's is the smallest
};

constexpr Purpose purposeOf(Reduction op, bool reduces) {
  constexpr Purpose purposes[reductionCount] = {Purpose::Sum, Purpose::Prod, Purpose::Max,
                                                Purpose::Min, Purpose::Avg,  Purpose::MulSum};
  return reduces ? purposes[static_cast<uint8_t>(op)] : Purpose::Copy;
}

/// Magnitude up to which all whole numbers are exact, of floats of 16 bits or fewer; 0 for others.
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

/// Ranks per element whose value is not neutral (or is the extreme), 1 .. ranks: so many that the roundings of their
/// reduction stay below a contribution.
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
  uint64_t turn; ///< q * window
};

/// Writes `count` elements of `rank`'s input, the first being element `first`.
void makeInput(const InputKind &kind, void *data, uint64_t first, uint64_t count, uint32_t rank);

} // namespace gc3::run
