// SPDX-License-Identifier: Apache-2.0
// The kernels of ReduceF16c.h. They convert eight elements at a time to half, then to float. One instruction rounds the
// results to half. Integer instructions round half to the fp8 types: f8e5m2 is the upper byte of half; the exponent of
// f8e4m3 is half's exponent minus 8.
#include "host/ReduceF16c.h"

#include <cstring>

#if defined(__x86_64__)

#include <immintrin.h>

// Helpers pass and return vectors, so they must be compiled for the same instructions as the kernels, and inlined.
#define GC3_INLINE __attribute__((target("avx2,f16c"), always_inline)) inline

namespace gc3::host {

using namespace core;

namespace {

constexpr size_t lanes = 8;

GC3_INLINE __m128i load16(const unsigned char *from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}
GC3_INLINE __m128i load8(const unsigned char *from) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
}
/// Stores the lower byte of each 16-bit value. The upper bytes must be zero.
GC3_INLINE void storeBytes(unsigned char *to, __m128i values) {
  _mm_storel_epi64(reinterpret_cast<__m128i *>(to), _mm_packus_epi16(values, values));
}
GC3_INLINE __m128i roundToHalf(__m256 values) {
  return _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
}
/// Returns `value` / 2^`dropped`, rounded to nearest even. `value` must be below 2^15.
template <int dropped>
GC3_INLINE __m128i roundedShift(__m128i value) {
  __m128i odd = _mm_and_si128(_mm_srli_epi16(value, dropped), _mm_set1_epi16(1));
  __m128i half = _mm_set1_epi16((1 << (dropped - 1)) - 1);
  return _mm_srli_epi16(_mm_add_epi16(value, _mm_add_epi16(half, odd)), dropped);
}
/// Returns fp8 values with the signs of `half`. A value is `nan` if `half` is a NaN, else the smaller of `result` and
/// `largest`. `result` must have no sign.
GC3_INLINE __m128i finishFloat8(__m128i result, short largest, short nan, __m128i half) {
  __m128i isNan = _mm_cmpgt_epi16(_mm_and_si128(half, _mm_set1_epi16(0x7fff)), _mm_set1_epi16(0x7c00));
  result = _mm_blendv_epi8(_mm_min_epi16(result, _mm_set1_epi16(largest)), _mm_set1_epi16(nan), isNan);
  return _mm_or_si128(result, _mm_and_si128(_mm_srli_epi16(half, 8), _mm_set1_epi16(0x80)));
}

/// Loads and stores eight elements of a type as floats.
template <typename T>
struct Block;

template <>
struct Block<Half> {
  GC3_INLINE static __m256 load(const unsigned char *from) { return _mm256_cvtph_ps(load16(from)); }
  GC3_INLINE static void store(unsigned char *to, __m256 values) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), roundToHalf(values));
  }
};

template <>
struct Block<Float8E5M2> {
  GC3_INLINE static __m256 load(const unsigned char *from) {
    return _mm256_cvtph_ps(_mm_unpacklo_epi8(_mm_setzero_si128(), load8(from)));
  }
  GC3_INLINE static void store(unsigned char *to, __m256 values) {
    __m128i half = roundToHalf(values);
    __m128i rounded = roundedShift<8>(_mm_and_si128(half, _mm_set1_epi16(0x7fff)));
    storeBytes(to, finishFloat8(rounded, 0x7b, 0x7e, half));
  }
};

template <>
struct Block<Float8E4M3> {
  GC3_INLINE static __m256 load(const unsigned char *from) {
    __m128i bytes = _mm_cvtepu8_epi16(load8(from));
    __m128i magnitude = _mm_and_si128(bytes, _mm_set1_epi16(0x7f));
    __m128i isNan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7f));
    __m128i half = _mm_blendv_epi8(_mm_slli_epi16(magnitude, 7), _mm_set1_epi16(0x7e00), isNan);
    half = _mm_or_si128(half, _mm_slli_epi16(_mm_xor_si128(bytes, magnitude), 8));
    return _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256));
  }
  GC3_INLINE static void store(unsigned char *to, __m256 values) {
    __m128i half = roundToHalf(values);
    __m128i magnitude = _mm_and_si128(half, _mm_set1_epi16(0x7fff));
    __m128i normal = roundedShift<7>(_mm_sub_epi16(magnitude, _mm_set1_epi16(8 << 10)));
    // The last bit of the float 2^14 has the value of the smallest subnormal, 2^-9, so the addition rounds to a
    // multiple of it.
    __m256 aligner = _mm256_set1_ps(0x1p14f);
    __m256 aligned = _mm256_add_ps(_mm256_cvtph_ps(magnitude), aligner);
    __m256i places = _mm256_sub_epi32(_mm256_castps_si256(aligned), _mm256_castps_si256(aligner));
    __m128i subnormal = _mm_packus_epi32(_mm256_castsi256_si128(places), _mm256_extracti128_si256(places, 1));
    __m128i isSubnormal = _mm_cmplt_epi16(magnitude, _mm_set1_epi16(9 << 10));
    storeBytes(to, finishFloat8(_mm_blendv_epi8(normal, subnormal, isSubnormal), 0x7e, 0x7f, half));
  }
};

template <ReduceOp op>
struct Reduction {
  GC3_INLINE __m256 operator()(__m256 a, __m256 b) const {
    if constexpr (op == ReduceOp::Prod)
      return _mm256_mul_ps(a, b);
    else if constexpr (op == ReduceOp::Min || op == ReduceOp::Max) {
      // The min and max instructions return the second operand if either is NaN. This code detects NaN with integer
      // instructions. If it compared floats that were converted from halves, clang 14 would compare the halves instead,
      // one by one.
      __m256 result = op == ReduceOp::Min ? _mm256_min_ps(a, b) : _mm256_max_ps(a, b);
      __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(b), _mm256_set1_epi32(0x7fffffff));
      __m256i isNan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
      return _mm256_blendv_ps(result, a, _mm256_castsi256_ps(isNan));
    } else
      return _mm256_add_ps(a, b);
  }
};

struct Scaling {
  float scale;
  GC3_INLINE __m256 operator()(__m256 a, __m256) const { return _mm256_mul_ps(a, _mm256_set1_ps(scale)); }
};

/// Computes dst[i] = operation(a[i], b[i]) for i < n. If n is not a multiple of `lanes`, copies the last elements to
/// padded blocks.
template <typename T, typename Operation>
GC3_INLINE void forEachBlock(void *dstBytes, const void *aBytes, const void *bBytes, size_t n, Operation operation) {
  constexpr size_t blockBytes = lanes * sizeof(T);
  auto *dst = static_cast<unsigned char *>(dstBytes);
  auto *a = static_cast<const unsigned char *>(aBytes);
  auto *b = static_cast<const unsigned char *>(bBytes);
  const size_t bytes = n * sizeof(T);
  size_t at = 0;
  for (; at + blockBytes <= bytes; at += blockBytes)
    Block<T>::store(dst + at, operation(Block<T>::load(a + at), Block<T>::load(b + at)));
  if (at == bytes)
    return;
  unsigned char lastA[blockBytes] = {}, lastB[blockBytes] = {};
  std::memcpy(lastA, a + at, bytes - at);
  std::memcpy(lastB, b + at, bytes - at);
  Block<T>::store(lastA, operation(Block<T>::load(lastA), Block<T>::load(lastB)));
  std::memcpy(dst + at, lastA, bytes - at);
}

template <typename T, ReduceOp op>
GC3_SIMD_AVX2 void reduceF16c(void *dst, const void *a, const void *b, size_t n) {
  forEachBlock<T>(dst, a, b, n, Reduction<op>{});
}
template <typename T>
GC3_SIMD_AVX2 void scaleF16c(void *dst, const void *src, size_t n, float scale) {
  forEachBlock<T>(dst, src, src, n, Scaling{scale});
}

template <typename T>
ReduceKernel kernelOf(ReduceOp op) {
  switch (op) {
  case ReduceOp::Sum:
  case ReduceOp::Avg: break;
  case ReduceOp::Prod: return reduceF16c<T, ReduceOp::Prod>;
  case ReduceOp::Max: return reduceF16c<T, ReduceOp::Max>;
  case ReduceOp::Min: return reduceF16c<T, ReduceOp::Min>;
  }
  return reduceF16c<T, ReduceOp::Sum>;
}

} // namespace

ReduceKernel f16cKernel(ElementType type, ReduceOp op) {
  return type == ElementType::Half         ? kernelOf<Half>(op)
         : type == ElementType::Float8E4M3 ? kernelOf<Float8E4M3>(op)
                                           : kernelOf<Float8E5M2>(op);
}

void f16cScale(ElementType type, void *dst, const void *src, size_t n, float scale) {
  auto *kernel = type == ElementType::Half         ? scaleF16c<Half>
                 : type == ElementType::Float8E4M3 ? scaleF16c<Float8E4M3>
                                                   : scaleF16c<Float8E5M2>;
  kernel(dst, src, n, scale);
}

} // namespace gc3::host

#else

namespace gc3::host {

ReduceKernel f16cKernel(ElementType, ReduceOp) {
  return nullptr; // never called: supports() accepts only Simd::Baseline
}

void f16cScale(ElementType, void *, const void *, size_t, float) {}

} // namespace gc3::host

#endif
