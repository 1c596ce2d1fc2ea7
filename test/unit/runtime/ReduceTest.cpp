// SPDX-License-Identifier: Apache-2.0
// Compares reduction kernels with a definition for one element. Uses odd counts, and also a destination that is one of
// the sources.
#include "host/Reduce.h"
#include "host/Random.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace gc3::core;
using namespace gc3::host;

namespace {

constexpr size_t counts[] = {0, 1, 3, 17, 1000};

template <typename T>
T reference(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case ReduceOp::Prod:
      return static_cast<T>(static_cast<U>(uint64_t{static_cast<U>(a)} * uint64_t{static_cast<U>(b)}));
    case ReduceOp::Min: return std::min(a, b);
    case ReduceOp::Max: return std::max(a, b);
    case ReduceOp::Sum:
    case ReduceOp::Avg: break;
    }
    return static_cast<T>(static_cast<U>(uint64_t{static_cast<U>(a)} + uint64_t{static_cast<U>(b)}));
  } else {
    switch (op) {
    case ReduceOp::Prod: return a * b;
    case ReduceOp::Min: return std::isnan(b) || a < b ? a : b; // fmin, except for signalling NaNs
    case ReduceOp::Max: return std::isnan(b) || a > b ? a : b;
    case ReduceOp::Sum:
    case ReduceOp::Avg: break;
    }
    return a + b;
  }
}

template <typename T>
void checkNative(ElementType type) {
  for (unsigned o = 0; o < reduceOpCount; ++o)
    for (size_t n : counts) {
      auto op = static_cast<ReduceOp>(o);
      std::vector<T> a(n), b(n), c(n);
      Random random(n + o);
      for (size_t i = 0; i < n; ++i) {
        a[i] = static_cast<T>(static_cast<int64_t>(random.next())) / (std::is_integral_v<T> ? T(1) : T(1e15));
        b[i] = static_cast<T>(static_cast<int64_t>(random.next())) / (std::is_integral_v<T> ? T(1) : T(1e15));
      }
      ReduceKernel kernel = reduceKernel(type, op);
      kernel(c.data(), a.data(), b.data(), n);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(c[i], reference(op, a[i], b[i])) << o << " " << i;
      std::vector<T> first = a, second = b;
      kernel(first.data(), first.data(), b.data(), n);
      kernel(second.data(), a.data(), second.data(), n);
      EXPECT_TRUE(n == 0 || std::memcmp(first.data(), c.data(), n * sizeof(T)) == 0);
      EXPECT_TRUE(n == 0 || std::memcmp(second.data(), c.data(), n * sizeof(T)) == 0);
    }
}

/// Checks a narrow type: the expected value is computed in float and rounded by `encode`.
template <typename T, typename Encode>
void checkNarrow(ElementType type, Encode encode, uint32_t patterns) {
  for (unsigned o = 0; o < reduceOpCount; ++o)
    for (size_t n : counts) {
      auto op = static_cast<ReduceOp>(o);
      std::vector<T> a(n), b(n), c(n);
      Random random(7 * n + o);
      for (size_t i = 0; i < n; ++i) {
        a[i].bits = static_cast<decltype(T::bits)>(random.below(patterns));
        b[i].bits = static_cast<decltype(T::bits)>(random.below(patterns));
      }
      reduceKernel(type, op)(c.data(), a.data(), b.data(), n);
      for (size_t i = 0; i < n; ++i) {
        T expected = encode(reference<float>(op, toFloat(a[i]), toFloat(b[i])));
        float x = toFloat(expected), y = toFloat(c[i]);
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y)))
            << o << ": " << toFloat(a[i]) << ", " << toFloat(b[i]) << " -> " << y;
      }
    }
}

} // namespace

TEST(Reduce, Native) {
  checkNative<int8_t>(ElementType::Int8);
  checkNative<uint8_t>(ElementType::Uint8);
  checkNative<int32_t>(ElementType::Int32);
  checkNative<uint32_t>(ElementType::Uint32);
  checkNative<int64_t>(ElementType::Int64);
  checkNative<uint64_t>(ElementType::Uint64);
  checkNative<float>(ElementType::Float);
  checkNative<double>(ElementType::Double);
}

TEST(Reduce, Narrow) {
  checkNarrow<Half>(ElementType::Half, toHalf, 1 << 16);
  checkNarrow<Bfloat16>(ElementType::Bfloat16, toBfloat16, 1 << 16);
  checkNarrow<Float8E4M3>(
      ElementType::Float8E4M3, [](float x) { return toFloat8E4M3(toFloat(toHalf(x))); }, 1 << 8);
  checkNarrow<Float8E5M2>(
      ElementType::Float8E5M2, [](float x) { return toFloat8E5M2(toFloat(toHalf(x))); }, 1 << 8);
}

// The inputs include NaNs and infinities. Only one source has NaNs: for two NaNs, a sum may return either.
TEST(Reduce, EveryInstructionSetGivesTheSameBits) {
  constexpr size_t room = 1100 * 8;
  std::vector<unsigned char> a(room), b(room), expected(room), got(room);
  Random random(5);
  for (size_t i = 0; i < room; ++i) {
    a[i] = static_cast<unsigned char>(random.next());
    b[i] = static_cast<unsigned char>(random.next());
  }
  for (Simd simd : allSimd) {
    if (!supports(simd))
      continue;
    for (unsigned t = 0; t < elementTypeCount; ++t)
      for (unsigned o = 0; o < reduceOpCount; ++o)
        for (size_t n : {0, 1, 7, 31, 64, 65, 1000})
          for (size_t shift : {0, 1, 3}) { // distance from an aligned address, in elements
            auto type = static_cast<ElementType>(t);
            auto op = static_cast<ReduceOp>(o);
            const size_t offset = shift * elementSize(type);
            std::vector<unsigned char> numbers = b;
            for (size_t i = elementSize(type) - 1; !isInteger(type) && i < room; i += elementSize(type))
              numbers[i] &= 0xbf; // clears the highest bit of the exponent
            std::fill(expected.begin(), expected.end(), 0xee);
            std::fill(got.begin(), got.end(), 0xee);
            reduceKernel(type, op, Simd::Baseline)(expected.data() + offset, a.data(), numbers.data() + offset, n);
            reduceKernel(type, op, simd)(got.data() + offset, a.data(), numbers.data() + offset, n);
            ASSERT_EQ(got, expected) << elementTypeName(type) << " " << reduceOpName(op) << " " << n << " " << shift;
          }
  }
}

// Compares the kernels with the scalar conversions for every pair of elements. For two NaNs, a sum or product may have
// either sign.
template <typename T, typename Encode>
void checkEveryPair(ElementType type, Encode encode) {
  constexpr uint32_t patterns = 256;
  std::vector<T> a(patterns * patterns), b(a.size()), got(a.size());
  for (uint32_t i = 0; i < a.size(); ++i) {
    a[i].bits = static_cast<uint8_t>(i / patterns);
    b[i].bits = static_cast<uint8_t>(i % patterns);
  }
  for (Simd simd : allSimd)
    for (unsigned o = 0; o < reduceOpCount && supports(simd); ++o) {
      auto op = static_cast<ReduceOp>(o);
      reduceKernel(type, op, simd)(got.data(), a.data(), b.data(), a.size());
      for (uint32_t i = 0; i < a.size(); ++i) {
        float x = toFloat(a[i]), y = toFloat(b[i]);
        T expected = encode(reference<float>(op, x, y));
        bool eitherKept = std::isnan(x) && std::isnan(y) && op != ReduceOp::Min && op != ReduceOp::Max;
        ASSERT_EQ(got[i].bits & (eitherKept ? 0x7f : 0xff), expected.bits & (eitherKept ? 0x7f : 0xff))
            << elementTypeName(type) << " " << reduceOpName(op) << " " << static_cast<int>(simd) << ": "
            << uint32_t{a[i].bits} << ", " << uint32_t{b[i].bits};
      }
    }
}

TEST(Reduce, EveryPairOfFloat8) {
  checkEveryPair<Float8E4M3>(ElementType::Float8E4M3, [](float x) { return toFloat8E4M3(toFloat(toHalf(x))); });
  checkEveryPair<Float8E5M2>(ElementType::Float8E5M2, [](float x) { return toFloat8E5M2(toFloat(toHalf(x))); });
}

// The first source contains every half, because all kernels must agree on NaNs and subnormals. The destination is the
// first source.
TEST(Reduce, EveryHalfInEveryInstructionSet) {
  constexpr uint32_t patterns = 1 << 16;
  std::vector<uint16_t> a(patterns), b(patterns), expected(patterns);
  Random random(11);
  for (uint32_t i = 0; i < patterns; ++i) {
    a[i] = static_cast<uint16_t>(i);
    b[i] = static_cast<uint16_t>(random.below(patterns) & 0xbfff); // no NaN
  }
  for (Simd simd : allSimd)
    for (unsigned o = 0; o < reduceOpCount && supports(simd); ++o) {
      auto op = static_cast<ReduceOp>(o);
      reduceKernel(ElementType::Half, op, Simd::Baseline)(expected.data(), a.data(), b.data(), patterns);
      std::vector<uint16_t> got = a;
      reduceKernel(ElementType::Half, op, simd)(got.data(), got.data(), b.data(), patterns);
      ASSERT_EQ(got, expected) << reduceOpName(op) << " " << static_cast<int>(simd);
    }
}

template <typename T, typename Encode>
void checkEveryScaled(ElementType type, Encode encode) {
  std::vector<T> all(1u << (8 * sizeof(T)));
  for (uint32_t i = 0; i < all.size(); ++i)
    all[i].bits = static_cast<decltype(T::bits)>(i);
  for (Simd simd : allSimd)
    for (uint32_t n : {1u, 2u, 3u, 7u, 1000u}) {
      if (!supports(simd))
        continue;
      std::vector<T> got = all;
      multiply(type, got.data(), got.data(), got.size(), reciprocalOf(type, n), simd);
      float scale = toFloat(toHalf(1.0f / static_cast<float>(n)));
      for (uint32_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(got[i].bits, encode(toFloat(all[i]) * scale).bits) << elementTypeName(type) << " " << i << " / " << n;
    }
}

TEST(Reduce, EveryHalfAndFloat8Scaled) {
  checkEveryScaled<Half>(ElementType::Half, toHalf);
  checkEveryScaled<Float8E4M3>(ElementType::Float8E4M3, [](float x) { return toFloat8E4M3(toFloat(toHalf(x))); });
  checkEveryScaled<Float8E5M2>(ElementType::Float8E5M2, [](float x) { return toFloat8E5M2(toFloat(toHalf(x))); });
}

// multiply() must give the same results as a product of two elements, also in place. The scalar is an immediate, or is
// read from memory.
TEST(Reduce, MultipliesAsAProduct) {
  constexpr size_t room = 1100 * 8;
  std::vector<unsigned char> a(room), scalars(room), expected(room), got(room);
  Random random(17);
  for (unsigned t = 0; t < elementTypeCount; ++t)
    for (Simd simd : allSimd)
      for (size_t n : {0, 1, 7, 65, 1000}) {
        if (!supports(simd))
          continue;
        const auto type = static_cast<ElementType>(t);
        const size_t size = elementSize(type);
        for (unsigned char &byte : a)
          byte = static_cast<unsigned char>(random.next());
        unsigned char scalar[8];
        for (unsigned char &byte : scalar)
          byte = static_cast<unsigned char>(random.next());
        if (!isInteger(type))
          scalar[size - 1] &= 0xbf; // no NaN
        for (size_t i = 0; i < n; ++i)
          std::memcpy(&scalars[i * size], scalar, size);
        std::fill(expected.begin(), expected.end(), 0xee);
        reduceKernel(type, ReduceOp::Prod, Simd::Baseline)(expected.data(), a.data(), scalars.data(), n);
        for (const Factor &factor : {factorAt(type, scalar), Factor{0, scalar}}) {
          std::fill(got.begin(), got.end(), 0xee);
          multiply(type, got.data(), a.data(), n, factor, simd);
          ASSERT_EQ(got, expected) << elementTypeName(type) << " " << n << " " << static_cast<int>(simd);
          std::copy_n(a.begin(), n * size, got.begin());
          multiply(type, got.data(), got.data(), n, factor, simd);
          ASSERT_EQ(got, expected) << elementTypeName(type) << " " << n << " in place";
        }
      }
}

TEST(Reduce, MinAndMaxPreferNumbersToNaN) {
  float nan = std::numeric_limits<float>::quiet_NaN(), one = 1, result;
  for (ReduceOp op : {ReduceOp::Min, ReduceOp::Max}) {
    reduceKernel(ElementType::Float, op)(&result, &nan, &one, 1);
    EXPECT_EQ(result, 1);
    reduceKernel(ElementType::Float, op)(&result, &one, &nan, 1);
    EXPECT_EQ(result, 1);
    reduceKernel(ElementType::Float, op)(&result, &nan, &nan, 1);
    EXPECT_TRUE(std::isnan(result));
  }
}

TEST(Reduce, Fp8Saturates) {
  Float8E4M3 large{0x7e}, result{};
  reduceKernel(ElementType::Float8E4M3, ReduceOp::Sum)(&result, &large, &large, 1);
  EXPECT_EQ(result.bits, 0x7e);
}

TEST(Reduce, Averages) {
  int8_t integers[] = {-7, 7, -128};
  divideForAverage(ElementType::Int8, integers, 3, 2);
  EXPECT_EQ(integers[0], -3);
  EXPECT_EQ(integers[1], 3);
  EXPECT_EQ(integers[2], -64);
  uint64_t wide = UINT64_MAX;
  divideForAverage(ElementType::Uint64, &wide, 1, 3);
  EXPECT_EQ(wide, UINT64_MAX / 3);
  float values[] = {3, 6};
  multiply(ElementType::Float, values, values, 2, reciprocalOf(ElementType::Float, 3));
  EXPECT_EQ(values[0], 3 * (1.0f / 3));
  divideForAverage(ElementType::Float, values, 2, 3);
  EXPECT_EQ(values[0], 3 * (1.0f / 3));
  Half half = toHalf(3), scaled{};
  multiply(ElementType::Half, &scaled, &half, 1, reciprocalOf(ElementType::Half, 3));
  EXPECT_EQ(scaled.bits, toHalf(3 * toFloat(toHalf(1.0f / 3))).bits);
}
