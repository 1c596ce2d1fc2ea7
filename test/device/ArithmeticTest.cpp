// SPDX-License-Identifier: Apache-2.0
// Compares the GPU's arithmetic on words with the host's. The GPU code is compiled for the host, with the host versions
// of the functions in CUDA's headers. Tests all pairs of values of one-byte types at each place in a word, and many
// pairs of values of the other types.
#include "Oracle.h"
#include "host/Random.h"
#include "host/Reduce.h"

#include <cmath>
#include <cstring>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

// Host versions of GPU instructions that act on four bytes at once. CUDA's headers have only the GPU versions.
template <typename Byte, typename Op>
static uint32_t byBytes(uint32_t a, uint32_t b, Op op) {
  uint32_t result = 0;
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const auto value = static_cast<uint8_t>(op(static_cast<Byte>(a >> shift), static_cast<Byte>(b >> shift)));
    result |= static_cast<uint32_t>(value) << shift;
  }
  return result;
}
static uint32_t __vadd4(uint32_t a, uint32_t b) {
  return byBytes<uint8_t>(a, b, std::plus<>());
}
static uint32_t __vmaxs4(uint32_t a, uint32_t b) {
  return byBytes<int8_t>(a, b, [](int8_t x, int8_t y) { return std::max(x, y); });
}
static uint32_t __vmins4(uint32_t a, uint32_t b) {
  return byBytes<int8_t>(a, b, [](int8_t x, int8_t y) { return std::min(x, y); });
}
static uint32_t __vmaxu4(uint32_t a, uint32_t b) {
  return byBytes<uint8_t>(a, b, [](uint8_t x, uint8_t y) { return std::max(x, y); });
}
static uint32_t __vminu4(uint32_t a, uint32_t b) {
  return byBytes<uint8_t>(a, b, [](uint8_t x, uint8_t y) { return std::min(x, y); });
}
static uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t sum) {
  for (uint32_t shift = 0; shift < 32; shift += 8)
    sum += (a >> shift & 0xff) * (b >> shift & 0xff);
  return sum;
}
/// Each digit of `places` is the number of one of the eight bytes of `low` and `high`.
static uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t places) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(bytes >> 8 * (places >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

#include "kernel/Arithmetic.cuh"

using namespace gc3;
using core::ElementType;
using core::ReduceOp;

namespace {

constexpr size_t pairs = 1 << 20;

/// Memory for elements: whole words.
using Words = std::vector<uint64_t>;

/// Fills `a` and `b` so that each pair of byte values occurs once at each place in a word, beside many other pairs.
void allPairs(Words &a, Words &b) {
  const auto bytesOf = [](Words &words) { return reinterpret_cast<uint8_t *>(words.data()); };
  for (size_t i = 0; i < 65536 * sizeof(uint64_t); ++i) {
    const size_t pair =
        (i + i / 65536) * 40503; // an odd factor, so the lowest 16 bits of 65536 of them are all different
    bytesOf(a)[i] = static_cast<uint8_t>(pair >> 8), bytesOf(b)[i] = static_cast<uint8_t>(pair);
  }
}

/// Fills `a` and `b` with random words, in which equal operands, zeros and largest exponents occur more often than by
/// chance. Floats and doubles are never signalling NaNs, because the host's library and a GPU treat these differently.
void somePairs(ElementType type, Words &a, Words &b) {
  host::Random random(static_cast<uint64_t>(type) + 1);
  const uint64_t quiet = type == ElementType::Double  ? uint64_t{1} << 51
                         : type == ElementType::Float ? 0x40000000400000
                                                      : 0;
  const uint64_t exponents = type == ElementType::Double ? 0x7ff0000000000000 : 0x7f8000007f800000;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = random.next();
    b[i] = i % 8 == 0 ? a[i] : i % 8 == 1 ? a[i] & 0x8000800080008000 : random.next();
    for (uint64_t *word : {&a[i], &b[i]}) {
      if (random.below(8) == 0)
        *word |= exponents;
      if ((*word & exponents & 0xffffffff00000000) == (exponents & 0xffffffff00000000) ||
          (*word & exponents & 0xffffffff) == (exponents & 0xffffffff))
        *word |= quiet;
    }
  }
}

template <typename T>
void compare(ElementType type, kernel::Operation operation, const Words &a, const Words &b) {
  const auto op = static_cast<ReduceOp>(operation);
  const size_t size = core::elementSize(type);
  Words ofHost(a.size()), ofGpu;
  host::reduceKernel(type, op)(ofHost.data(), a.data(), b.data(), a.size() * sizeof(uint64_t) / size);
  for (size_t i = 0; i < a.size(); ++i)
    ofGpu.push_back(kernel::Arithmetic<T>::combine(operation, a[i], b[i]));
  const auto at = [&](const Words &words, size_t i) {
    return reinterpret_cast<const std::byte *>(words.data()) + i * size;
  };
  for (size_t i = 0; i < a.size() * sizeof(uint64_t) / size; ++i)
    ASSERT_TRUE(test::isAsGood(type, op, at(ofGpu, i), at(ofHost, i)))
        << core::elementTypeName(type) << ' ' << core::reduceOpName(op) << ", element " << i << ", of word " << std::hex
        << a[i * size / sizeof(uint64_t)] << " and " << b[i * size / sizeof(uint64_t)];
}

template <typename T>
void check(ElementType type) {
  static_assert(kernel::Arithmetic<T>::elementBytes == sizeof(T));
  const bool isByte = sizeof(T) == 1;
  Words a(isByte ? 65536 : pairs * sizeof(T) / sizeof(uint64_t)), b(a.size());
  isByte ? allPairs(a, b) : somePairs(type, a, b);
  for (auto operation :
       {kernel::Operation::Sum, kernel::Operation::Prod, kernel::Operation::Max, kernel::Operation::Min})
    compare<T>(type, operation, a, b);
}

} // namespace

TEST(Arithmetic, IsThatOfTheHost) {
  check<int8_t>(ElementType::Int8);
  check<uint8_t>(ElementType::Uint8);
  check<int32_t>(ElementType::Int32);
  check<uint32_t>(ElementType::Uint32);
  check<int64_t>(ElementType::Int64);
  check<uint64_t>(ElementType::Uint64);
  check<__half>(ElementType::Half);
  check<float>(ElementType::Float);
  check<double>(ElementType::Double);
  check<__nv_bfloat16>(ElementType::Bfloat16);
  check<__nv_fp8_e4m3>(ElementType::Float8E4M3);
  check<__nv_fp8_e5m2>(ElementType::Float8E5M2);
}
