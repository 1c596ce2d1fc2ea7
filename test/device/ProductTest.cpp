// SPDX-License-Identifier: Apache-2.0
// Compares the GPU's multiplications before a reduction and divisions after a reduction with the host's. The GPU code
// is compiled for the host. Tests all values of types up to 16 bits, and many values of wider types. The factors
// include special values.
#include "Oracle.h"
#include "host/Random.h"
#include "host/Reduce.h"

#include <bit>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <type_traits>
#include <vector>

// Host versions of functions that CUDA's headers have only for the GPU.
static double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}
static float __uint_as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

#include "kernel/Product.cuh"

using namespace gc3;
using core::ElementType;

namespace {

/// The unsigned integer type with the size of `T`.
template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <typename T>
T ofBits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// Returns bit patterns of `width` bits at which floats and integers change behaviour: each power of two and its two
/// neighbours, infinities and ones. Each pattern also occurs with the sign bit set, and with all bits inverted. Zeros,
/// subnormals and NaNs of all types are among them.
std::vector<uint64_t> edges(uint32_t width) {
  std::vector<uint64_t> bits{0};
  for (uint32_t shift = 0; shift < width; ++shift)
    for (uint64_t beside : {-1, 0, 1})
      bits.push_back((uint64_t{1} << shift) + beside);
  for (uint64_t top : {0x7c00, 0x7f80, 0x0380, 0x3c00, 0x3f80}) // infinities, a subnormal half, ones
    bits.push_back(width < 16 ? top >> 8 : top << (width - 16));
  bits.push_back(uint64_t{0x7ff} << 52), bits.push_back(uint64_t{0x3ff} << 52);
  for (size_t i = bits.size(); i-- > 0;)
    bits.push_back(bits[i] | uint64_t{1} << (width - 1)), bits.push_back(~bits[i]);
  return bits;
}

/// Returns all values of a type of up to 16 bits. For a wider type, returns edges() and random values.
template <typename T>
std::vector<T> someElements(ElementType type) {
  std::vector<T> elements;
  if (sizeof(T) <= 2) {
    for (uint64_t bits = 0; bits < uint64_t{1} << 8 * sizeof(T); ++bits)
      elements.push_back(ofBits<T>(bits));
    return elements;
  }
  for (uint64_t bits : edges(8 * sizeof(T)))
    elements.push_back(ofBits<T>(bits));
  host::Random random(static_cast<uint64_t>(type) + 1);
  for (uint32_t i = 0; i < 1 << 12; ++i)
    elements.push_back(ofBits<T>(random.next()));
  return elements;
}

/// Returns the bits of factors in `Compute`, the type in which products are computed: edges(), reciprocals and random
/// values.
template <typename Compute>
std::vector<uint64_t> someFactors(ElementType type) {
  std::vector<uint64_t> factors = edges(8 * sizeof(Compute));
  if (!core::isInteger(type))
    for (uint32_t n : {1, 2, 3, 7, 8, 100, 1023, 65536})
      factors.push_back(core::reciprocalOf(type, n).bits);
  host::Random random(static_cast<uint64_t>(type) + 100);
  for (uint32_t i = 0; i < 32; ++i)
    factors.push_back(random.next());
  for (uint64_t &factor : factors)
    factor = std::bit_cast<BitsOf<Compute>>(ofBits<Compute>(factor));
  return factors;
}

template <typename T>
void expectEqual(ElementType type, const std::vector<T> &is, const std::vector<T> &should, const std::vector<T> &of,
                 const std::string &what) {
  const auto bitsOf = [](const T &value) { return uint64_t{std::bit_cast<BitsOf<T>>(value)}; };
  for (size_t i = 0; i < is.size(); ++i)
    ASSERT_TRUE(test::isAsGood(type, core::ReduceOp::Prod, reinterpret_cast<const std::byte *>(&is[i]),
                               reinterpret_cast<const std::byte *>(&should[i])))
        << core::elementTypeName(type) << std::hex << ' ' << bitsOf(of[i]) << ' ' << what << " is " << bitsOf(is[i])
        << " and should be " << bitsOf(should[i]);
}

template <typename T>
void expectProducts(ElementType type, const std::vector<T> &elements, const core::Factor &factor) {
  std::vector<T> ofHost(elements.size()), ofGpu;
  host::multiply(type, ofHost.data(), elements.data(), elements.size(), factor);
  const auto scale = kernel::factorOf(factor.bits, static_cast<const T *>(factor.address));
  for (const T &element : elements)
    ofGpu.push_back(kernel::multiplied(element, scale));
  expectEqual(type, ofGpu, ofHost, elements,
              factor.address ? "times a scalar in memory" : "times " + std::to_string(factor.bits));
}

template <typename T>
void checkProducts(ElementType type) {
  const std::vector<T> elements = someElements<T>(type);
  for (uint64_t bits : someFactors<typename kernel::Product<T>::Compute>(type))
    expectProducts(type, elements, {bits, nullptr});
  for (uint64_t bits : edges(8 * sizeof(T))) {
    const T scalar = ofBits<T>(bits);
    expectProducts(type, elements, {0, &scalar});
  }
}

template <typename T>
void checkQuotients(ElementType type) {
  const std::vector<T> elements = someElements<T>(type);
  for (uint32_t n : {1u, 2u, 3u, 7u, 8u, 127u, 128u, 255u, 256u, 65537u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    std::vector<T> ofHost = elements, ofGpu;
    host::divideForAverage(type, ofHost.data(), ofHost.size(), n);
    for (T element : elements)
      ofGpu.push_back(kernel::divided(element, n));
    expectEqual(type, ofGpu, ofHost, elements, "by " + std::to_string(n));
  }
}

} // namespace

TEST(Product, isThatOfTheHost) {
  checkProducts<int8_t>(ElementType::Int8);
  checkProducts<uint8_t>(ElementType::Uint8);
  checkProducts<int32_t>(ElementType::Int32);
  checkProducts<uint32_t>(ElementType::Uint32);
  checkProducts<int64_t>(ElementType::Int64);
  checkProducts<uint64_t>(ElementType::Uint64);
  checkProducts<__half>(ElementType::Half);
  checkProducts<float>(ElementType::Float);
  checkProducts<double>(ElementType::Double);
  checkProducts<__nv_bfloat16>(ElementType::Bfloat16);
  checkProducts<__nv_fp8_e4m3>(ElementType::Float8E4M3);
  checkProducts<__nv_fp8_e5m2>(ElementType::Float8E5M2);
}

TEST(Product, quotientIsThatOfTheHost) {
  checkQuotients<int8_t>(ElementType::Int8);
  checkQuotients<uint8_t>(ElementType::Uint8);
  checkQuotients<int32_t>(ElementType::Int32);
  checkQuotients<uint32_t>(ElementType::Uint32);
  checkQuotients<int64_t>(ElementType::Int64);
  checkQuotients<uint64_t>(ElementType::Uint64);
}
