// SPDX-License-Identifier: Apache-2.0
// Compares the conversions of narrow float types with their definition in double: the value of every bit pattern, and
// the rounding of floats near the middle between two neighbouring values.
#include "core/Element.h"
#include "host/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace gc3::core;

namespace {

/// Returns the value of a narrow float by its definition: a sign bit, an exponent and a mantissa of these widths.
double decode(uint32_t bits, int exponentBits, int mantissaBits, int bias) {
  uint32_t sign = bits >> (exponentBits + mantissaBits), exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  double value = exponent == 0
                     ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                     : std::ldexp(mantissa + (1u << mantissaBits), static_cast<int>(exponent) - bias - mantissaBits);
  return sign ? -value : value;
}

struct Format {
  int exponentBits, mantissaBits, bias;
  uint32_t largest; ///< bit pattern of the largest finite value
  bool saturates;
};

constexpr Format halfFormat{5, 10, 15, 0x7bff, false};
constexpr Format bfloatFormat{8, 7, 127, 0x7f7f, false};
constexpr Format e4m3Format{4, 3, 7, 0x7e, true};
constexpr Format e5m2Format{5, 2, 15, 0x7b, true};

template <typename T, typename Encode>
void checkAll(const Format &format, Encode encode) {
  uint32_t signBit = 1u << (format.exponentBits + format.mantissaBits);
  for (uint32_t bits = 0; bits < 2 * signBit; ++bits) {
    T value{static_cast<decltype(T::bits)>(bits)};
    float decoded = toFloat(value);
    if ((bits & (signBit - 1)) <= format.largest) {
      ASSERT_EQ(decoded, decode(bits, format.exponentBits, format.mantissaBits, format.bias)) << bits;
      ASSERT_EQ(std::signbit(decoded), (bits & signBit) != 0) << bits;
      ASSERT_EQ(encode(decoded).bits, bits);
    } else if (std::isnan(decoded)) {
      ASSERT_TRUE(std::isnan(toFloat(encode(decoded)))) << bits;
    } else {
      ASSERT_TRUE(std::isinf(decoded)) << bits;
      ASSERT_EQ(encode(decoded).bits, format.saturates ? (bits & signBit) | format.largest : bits);
    }
  }
  // Tests floats below, at and above the middle of two neighbouring values. The middle rounds to the even bit pattern.
  for (uint32_t bits = 0; bits < format.largest; ++bits) {
    double low = decode(bits, format.exponentBits, format.mantissaBits, format.bias);
    double high = decode(bits + 1, format.exponentBits, format.mantissaBits, format.bias);
    auto middle = static_cast<float>((low + high) / 2);
    if (static_cast<double>(middle) != (low + high) / 2)
      continue; // float can't hold the middle
    ASSERT_EQ(encode(middle).bits, bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0f)).bits, bits) << bits;
    ASSERT_EQ(encode(std::nextafter(middle, INFINITY)).bits, bits + 1) << bits;
    ASSERT_EQ(encode(-middle).bits, (bits % 2 == 0 ? bits : bits + 1) | signBit) << bits;
  }
  EXPECT_TRUE(std::isnan(toFloat(encode(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(toFloat(encode(std::bit_cast<float>(0x7f800001u)))));
  uint32_t overflowed = format.saturates ? format.largest : format.largest + 1;
  EXPECT_EQ(encode(std::numeric_limits<float>::max()).bits, overflowed);
  EXPECT_EQ(encode(std::numeric_limits<float>::infinity()).bits, overflowed);
  EXPECT_EQ(encode(std::numeric_limits<float>::denorm_min()).bits, format.bias == 127 ? encode(0x1p-149f).bits : 0u);
}

} // namespace

TEST(Element, Half) {
  checkAll<Half>(halfFormat, toHalf);
}
TEST(Element, Bfloat16) {
  checkAll<Bfloat16>(bfloatFormat, toBfloat16);
}
TEST(Element, Float8E4M3) {
  checkAll<Float8E4M3>(e4m3Format, toFloat8E4M3);
}
TEST(Element, Float8E5M2) {
  checkAll<Float8E5M2>(e5m2Format, toFloat8E5M2);
}

TEST(Element, SizesAndNames) {
  EXPECT_EQ(elementSize(ElementType::Bfloat16), 2u);
  EXPECT_EQ(elementSize(ElementType::Float8E5M2), 1u);
  EXPECT_STREQ(elementTypeName(ElementType::Double), "double");
  EXPECT_STREQ(reduceOpName(ReduceOp::Avg), "avg");
}
