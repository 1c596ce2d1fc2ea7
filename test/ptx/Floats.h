// SPDX-License-Identifier: Apache-2.0
// The narrow floating-point formats of PTX, and its minima and maxima. A double holds every value exactly.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gc3::ptx {

/// A format with `Exponent` bits of exponent and `Mantissa` bits of mantissa. If `Finite`, it has no infinity: the
/// largest exponent has values, and only the pattern of ones is a NaN.
template <uint32_t Exponent, uint32_t Mantissa, bool Finite = false>
struct Format {
  static constexpr uint32_t sign = 1u << (Exponent + Mantissa);
  static constexpr int least = 2 - (1 << (Exponent - 1)); ///< exponent of the smallest normal value
  static constexpr uint32_t infinity = Finite ? sign - 1 : ((1u << Exponent) - 1) << Mantissa;
  static constexpr uint32_t largest = infinity - 1; ///< finite value
  static constexpr uint32_t nan = sign - 1;         ///< the NaN that operations return

  static double decode(uint32_t bits) {
    const uint32_t magnitude = bits & (sign - 1);
    if (magnitude > infinity || (Finite && magnitude == nan))
      return std::numeric_limits<double>::quiet_NaN();
    const double negate = (bits & sign) != 0 ? -1 : 1;
    if (magnitude == infinity)
      return negate * std::numeric_limits<double>::infinity();
    const uint32_t exponent = magnitude >> Mantissa;
    const uint32_t mantissa = (magnitude & ((1u << Mantissa) - 1)) | (exponent == 0 ? 0 : 1u << Mantissa);
    return negate * mantissa * power((exponent == 0 ? 0 : static_cast<int>(exponent) - 1) + least - int{Mantissa});
  }

  /// Rounds to the nearest value, ties to even. Values beyond the largest one become infinite, or the largest one.
  static uint32_t encode(double value, bool saturates) {
    if (std::isnan(value))
      return nan;
    const uint32_t negative = std::signbit(value) ? sign : 0;
    const double magnitude = std::fabs(value);
    if (std::isinf(value))
      return negative | (saturates ? largest : infinity);
    const int own = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023;
    const int exponent = own < least ? least : own;
    if (exponent > 2 - least)
      return negative | (saturates ? largest : infinity);
    const double units = std::nearbyint(magnitude * power(int{Mantissa} - exponent));
    const uint32_t bits = (static_cast<uint32_t>(exponent - least) << Mantissa) + static_cast<uint32_t>(units);
    return negative | (bits <= largest ? bits : saturates ? largest : infinity);
  }

private:
  static double power(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52); }
};

using Half = Format<5, 10>;
using Bfloat16 = Format<8, 7>;
using E4M3 = Format<4, 3, true>;
using E5M2 = Format<5, 2>;

/// Returns the number if the other operand is a NaN. -0 is less than 0.
template <typename T>
T smallerOf(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T>
T largerOf(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

} // namespace gc3::ptx
