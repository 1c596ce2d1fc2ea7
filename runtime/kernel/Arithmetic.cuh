// SPDX-License-Identifier: Apache-2.0
// Reductions of words, element by element. Results have the same bits as the host's. half and bfloat16 round each
// operation once. fp8 is computed in half and saturates. Integers wrap. min and max of a NaN and a number return the
// number. Two exceptions: the bits of a NaN can differ; and min and max treat -0 as smaller than 0 here, but as equal
// on the host. Narrow types are reduced two or four at a time, because scalar loops over them spill registers.
#pragma once

#include "kernel/Words.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace gc3::kernel {

/// `partOf` returns part `index` of a word as type P. `bitsOf` returns a word that has `part` at that index, and zeros
/// elsewhere.
template <typename P>
__device__ __forceinline__ P partOf(Word word, uint32_t index) {
  static_assert(sizeof(P) == 4 || sizeof(P) == 8);
  if constexpr (sizeof(P) == 8) {
    return *reinterpret_cast<P *>(&word);
  } else {
    auto bits = static_cast<uint32_t>(word >> 32 * index);
    return *reinterpret_cast<P *>(&bits);
  }
}
template <typename P>
__device__ __forceinline__ Word bitsOf(P part, uint32_t index) {
  if constexpr (sizeof(P) == 8)
    return *reinterpret_cast<Word *>(&part);
  else
    return static_cast<Word>(*reinterpret_cast<uint32_t *>(&part)) << 32 * index;
}

/// Applies `Parts::apply(op, a, b)` to each pair of parts of two words.
template <typename T, typename Parts>
struct ByParts {
  using Element = T;
  static constexpr uint32_t elementBytes = sizeof(T);
  static __device__ __forceinline__ Word combine(Operation op, Word a, Word b) {
    using P = typename Parts::Part;
    Word result = 0;
#pragma unroll
    for (uint32_t i = 0; i < sizeof(Word) / sizeof(P); ++i)
      result |= bitsOf(Parts::apply(op, partOf<P>(a, i), partOf<P>(b, i)), i);
    return result;
  }
};

template <typename T>
__device__ __forceinline__ T larger(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
__device__ __forceinline__ T smaller(T a, T b) {
  return b < a ? b : a;
}
__device__ __forceinline__ float larger(float a, float b) {
  return fmaxf(a, b);
}
__device__ __forceinline__ float smaller(float a, float b) {
  return fminf(a, b);
}
__device__ __forceinline__ double larger(double a, double b) {
  return fmax(a, b);
}
__device__ __forceinline__ double smaller(double a, double b) {
  return fmin(a, b);
}

template <typename T>
struct ScalarParts {
  using Part = T;
  static __device__ __forceinline__ T apply(Operation op, T a, T b) {
    switch (op) {
    case Operation::Sum: return a + b;
    case Operation::Prod: return a * b;
    case Operation::Max: return larger(a, b);
    case Operation::Min: return smaller(a, b);
    }
    __builtin_unreachable();
  }
};

template <bool Signed>
struct ByteParts {
  using Part = uint32_t;
  static __device__ __forceinline__ uint32_t apply(Operation op, uint32_t a, uint32_t b) {
    switch (op) {
    case Operation::Sum: return __vadd4(a, b);
    case Operation::Prod: return product(a, b);
    case Operation::Max: return Signed ? __vmaxs4(a, b) : __vmaxu4(a, b);
    case Operation::Min: return Signed ? __vmins4(a, b) : __vminu4(a, b);
    }
    __builtin_unreachable();
  }

private:
  /// Multiplies four pairs of bytes. The GPU has no instruction for this. But the sum of the products of four bytes is
  /// one instruction, and three of them can be 0.
  static __device__ __forceinline__ uint32_t product(uint32_t a, uint32_t b) {
    const uint32_t low = __byte_perm(a * b, __dp4a(a & 0xff00, b, 0u), 0x0040);
    const uint32_t high = __byte_perm(__dp4a(a & 0xff0000, b, 0u), __dp4a(a & 0xff000000, b, 0u), 0x0040);
    return __byte_perm(low, high, 0x5410);
  }
};

/// `Pair` is __half2 or __nv_bfloat162.
template <typename Pair>
struct PairParts {
  using Part = Pair;
  static __device__ __forceinline__ Pair apply(Operation op, Pair a, Pair b) {
    switch (op) {
    case Operation::Sum: return __hadd2_rn(a, b);
    case Operation::Prod: return __hmul2_rn(a, b);
    case Operation::Max: return __hmax2(a, b);
    case Operation::Min: return __hmin2(a, b);
    }
    __builtin_unreachable();
  }
};

/// Reduces four fp8 as two pairs of half. A part is a register whose halves each have the bits of two fp8, because the
/// conversions can use each half. Shifts would take instructions. GPUs before sm_90 would have to emulate the
/// conversions, with code that takes minutes to compile. The host refuses such calls, as NCCL does.
template <__nv_fp8_interpretation_t Kind>
struct Fp8Parts {
  using Part = __half2;
  static __device__ __forceinline__ __half2 apply(Operation op, __half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    __trap();
    return a;
#else
    return __halves2half2(pair(op, __low2half(a), __low2half(b)), pair(op, __high2half(a), __high2half(b)));
#endif
  }

private:
  static __device__ __forceinline__ __half pair(Operation op, __half a, __half b) {
    const __half2_raw result =
        PairParts<__half2>::apply(op, __half2(__nv_cvt_fp8x2_to_halfraw2(__half_as_ushort(a), Kind)),
                                  __half2(__nv_cvt_fp8x2_to_halfraw2(__half_as_ushort(b), Kind)));
    return __ushort_as_half(__nv_cvt_halfraw2_to_fp8x2(result, __NV_SATFINITE, Kind));
  }
};

/// The arithmetic of each element type. Signed and unsigned integers have the same sums and products, bit by bit, but
/// not the same min and max.
template <typename T>
struct Arithmetic : ByParts<T, ScalarParts<T>> {};
template <>
struct Arithmetic<int8_t> : ByParts<int8_t, ByteParts<true>> {};
template <>
struct Arithmetic<uint8_t> : ByParts<uint8_t, ByteParts<false>> {};
template <>
struct Arithmetic<__half> : ByParts<__half, PairParts<__half2>> {};
template <>
struct Arithmetic<__nv_bfloat16> : ByParts<__nv_bfloat16, PairParts<__nv_bfloat162>> {};
template <>
struct Arithmetic<__nv_fp8_e4m3> : ByParts<__nv_fp8_e4m3, Fp8Parts<__NV_E4M3>> {};
template <>
struct Arithmetic<__nv_fp8_e5m2> : ByParts<__nv_fp8_e5m2, Fp8Parts<__NV_E5M2>> {};

} // namespace gc3::kernel
