// SPDX-License-Identifier: Apache-2.0
// Multiplication and division of elements before or after a reduction. Results have the same bits as the host's
// (host/Reduce.h). The product of two halves is exact in float, so the only rounding is the conversion to the type. An
// fp8 product is rounded to half first.
#pragma once

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <type_traits>

namespace gc3::kernel {

/// The multiplication of elements of type T, in type `Compute`. A factor's `bits` (core/Factor.h) are the bits of a
/// `Compute`.
template <typename T>
struct Product {
  using Compute = T;
  static __device__ __forceinline__ T load(T value) { return value; }
  static __device__ __forceinline__ T store(T value) { return value; }
  static __device__ __forceinline__ T ofBits(uint64_t bits) { return static_cast<T>(bits); }
};
template <>
struct Product<double> {
  using Compute = double;
  static __device__ __forceinline__ double load(double value) { return value; }
  static __device__ __forceinline__ double store(double value) { return value; }
  static __device__ __forceinline__ double ofBits(uint64_t bits) {
    return __longlong_as_double(static_cast<long long>(bits));
  }
};
struct InFloat {
  using Compute = float;
  static __device__ __forceinline__ float ofBits(uint64_t bits) { return __uint_as_float(static_cast<uint32_t>(bits)); }
};
template <>
struct Product<float> : InFloat {
  static __device__ __forceinline__ float load(float value) { return value; }
  static __device__ __forceinline__ float store(float value) { return value; }
};
template <>
struct Product<__half> : InFloat {
  static __device__ __forceinline__ float load(__half value) { return __half2float(value); }
  static __device__ __forceinline__ __half store(float value) { return __float2half_rn(value); }
};
template <>
struct Product<__nv_bfloat16> : InFloat {
  static __device__ __forceinline__ float load(__nv_bfloat16 value) { return __bfloat162float(value); }
  static __device__ __forceinline__ __nv_bfloat16 store(float value) { return __float2bfloat16_rn(value); }
};
template <typename T, __nv_fp8_interpretation_t Kind>
struct Fp8Product : InFloat {
  static __device__ __forceinline__ float load(T value) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(value.__x, Kind)));
  }
  static __device__ __forceinline__ T store(float value) {
    T result;
    result.__x = __nv_cvt_halfraw_to_fp8(__half_raw(__float2half_rn(value)), __NV_SATFINITE, Kind);
    return result;
  }
};
template <>
struct Product<__nv_fp8_e4m3> : Fp8Product<__nv_fp8_e4m3, __NV_E4M3> {};
template <>
struct Product<__nv_fp8_e5m2> : Fp8Product<__nv_fp8_e5m2, __NV_E5M2> {};

/// Returns a * b. Integers wrap: they are multiplied in an unsigned type that is not promoted to a signed type.
template <typename C>
__device__ __forceinline__ C product(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using Wrapping = std::conditional_t<(sizeof(C) < 4), uint32_t, std::make_unsigned_t<C>>;
    return static_cast<C>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
  } else {
    return a * b;
  }
}

/// Returns a rank's factor: the scalar if `scalar` is not null, else the value that has these bits.
template <typename T>
__device__ __forceinline__ typename Product<T>::Compute factorOf(uint64_t bits, const T *scalar) {
  return scalar ? Product<T>::load(*scalar) : Product<T>::ofBits(bits);
}

template <typename T>
__device__ __forceinline__ T multiplied(T value, typename Product<T>::Compute factor) {
  return Product<T>::store(product(Product<T>::load(value), factor));
}

/// Divides an integer, in a type that can hold every value of T, and n.
template <typename T>
__device__ __forceinline__ T divided(T value, uint32_t n) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  return static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(n));
}

} // namespace gc3::kernel
