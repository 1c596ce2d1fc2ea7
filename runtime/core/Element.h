// SPDX-License-Identifier: Apache-2.0
// Element types, numbered as in NCCL, and conversions between float and narrower floating-point types. Conversions
// round to nearest even. They have no branches, so that compilers can vectorise loops over them. They need no compiler
// support for half.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gc3::core {

enum class ElementType : uint8_t {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Half = 6,
  Float = 7,
  Double = 8,
  Bfloat16 = 9,
  Float8E4M3 = 10,
  Float8E5M2 = 11,
};
inline constexpr unsigned elementTypeCount = 12;

enum class ReduceOp : uint8_t { Sum = 0, Prod = 1, Max = 2, Min = 3, Avg = 4 };
inline constexpr unsigned reduceOpCount = 5;

/// Returns the bytes of one element.
constexpr size_t elementSize(ElementType type) {
  constexpr uint8_t sizes[elementTypeCount] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return sizes[static_cast<uint8_t>(type)];
}

/// Returns the type's name for messages, options and tables.
constexpr const char *elementTypeName(ElementType type) {
  constexpr const char *names[elementTypeCount] = {"int8", "uint8", "int32",  "uint32",   "int64",  "uint64",
                                                   "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"};
  return names[static_cast<uint8_t>(type)];
}

constexpr const char *reduceOpName(ReduceOp op) {
  constexpr const char *names[reduceOpCount] = {"sum", "prod", "max", "min", "avg"};
  return names[static_cast<uint8_t>(op)];
}

constexpr bool isInteger(ElementType type) {
  return type <= ElementType::Uint64;
}

/// Returns whether each operation on the type is rounded to half. This holds for half and for both fp8 types.
constexpr bool isReducedInHalf(ElementType type) {
  return type == ElementType::Half || type == ElementType::Float8E4M3 || type == ElementType::Float8E5M2;
}

/// IEEE binary16.
struct Half {
  uint16_t bits;
};

/// The upper 16 bits of a float.
struct Bfloat16 {
  uint16_t bits;
};

/// OCP 8-bit float: 4 exponent bits with bias 7, no infinity. NaN is 0x7f. The largest value is 448.
struct Float8E4M3 {
  uint8_t bits;
};

/// OCP 8-bit float: the upper byte of a half. The largest finite value is 57344.
struct Float8E5M2 {
  uint8_t bits;
};

static_assert(sizeof(Half) == 2 && sizeof(Bfloat16) == 2 && sizeof(Float8E4M3) == 1 && sizeof(Float8E5M2) == 1);

inline float toFloat(Half value) {
  // The shift moves half's exponent into float's exponent field. There it is 112 too low, because the biases are 15 and
  // 127. The multiplication corrects this and normalises subnormals.
  uint32_t magnitude = value.bits & 0x7fffu;
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t bits = magnitude >= 0x7c00u ? (magnitude << 13) | 0x7f800000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | (uint32_t{value.bits} & 0x8000u) << 16);
}

inline float toFloat(Bfloat16 value) {
  return std::bit_cast<float>(uint32_t{value.bits} << 16);
}

inline Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // The last bit of 0.5f has the value of half's smallest subnormal, so adding 0.5f rounds to a multiple of it.
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x1ffu) : 0x7c00u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? special : result;
  return {static_cast<uint16_t>(result | (bits >> 16 & 0x8000u))};
}

inline Bfloat16 toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  uint32_t notANumber = bits >> 16 | 0x40u;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? notANumber : rounded)};
}

namespace detail {

/// Rounds `value` to a float with `mantissaBits` stored mantissa bits and an exponent with bias `bias`. `largest` and
/// `nan` are the bits of results: a magnitude above `largest` becomes `largest`, and NaN becomes `nan`.
template <unsigned mantissaBits, uint32_t bias, uint32_t largest, uint32_t nan>
uint8_t toFloat8(float value) {
  constexpr unsigned dropped = 23 - mantissaBits;
  constexpr uint32_t smallestNormal = (128 - bias) << 23;
  // The bits of a float whose last bit has the value of the smallest subnormal, 2^(1 - bias - mantissaBits).
  constexpr uint32_t aligner = (127 + 1 - bias - mantissaBits + 23) << 23;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = (1u << (dropped - 1)) - 1;
  uint32_t normal = (magnitude - ((127 - bias) << 23) + half + (magnitude >> dropped & 1u)) >> dropped;
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(aligner)) - aligner;
  uint32_t result = magnitude < smallestNormal ? subnormal : normal;
  result = result > largest ? largest : result;
  result = magnitude > 0x7f800000u ? nan : result;
  return static_cast<uint8_t>(result | (bits >> 24 & 0x80u));
}

} // namespace detail

/// Saturates: a magnitude above the largest finite value becomes that value.
inline Float8E4M3 toFloat8E4M3(float value) {
  return {detail::toFloat8<3, 7, 0x7e, 0x7f>(value)};
}
/// Saturates: a magnitude above the largest finite value becomes that value.
inline Float8E5M2 toFloat8E5M2(float value) {
  return {detail::toFloat8<2, 15, 0x7b, 0x7e>(value)};
}

inline float toFloat(Float8E5M2 value) {
  return toFloat(Half{static_cast<uint16_t>(value.bits << 8)});
}

inline float toFloat(Float8E4M3 value) {
  // As in the conversion of half, the exponent is too low after the shift, here by 120.
  uint32_t magnitude = value.bits & 0x7fu;
  float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  uint32_t bits = magnitude == 0x7fu ? 0x7fc00000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | (uint32_t{value.bits} & 0x80u) << 24);
}

} // namespace gc3::core
