// SPDX-License-Identifier: Apache-2.0
// What is done to elements before or after they are reduced, with the host's results bit by bit (host/Reduce.h): halves
// of two multiply exactly in float, so that the only rounding is that to the type; fp8 rounds to half first.
#include "cuda/Kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <type_traits>

namespace gc3::cuda {

namespace {

/// How a type is multiplied: in `Compute`, of which a factor has the bits (host/Factor.h).
template <typename T>
struct Product {
  using Compute = T;
  static __device__ T load(T value) { return value; }
  static __device__ T store(T value) { return value; }
  static __device__ T ofBits(uint64_t bits) { return static_cast<T>(bits); }
};
template <>
struct Product<double> {
  using Compute = double;
  static __device__ double load(double value) { return value; }
  static __device__ double store(double value) { return value; }
  static __device__ double ofBits(uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
};
struct InFloat {
  using Compute = float;
  static __device__ float ofBits(uint64_t bits) { return __uint_as_float(static_cast<uint32_t>(bits)); }
};
template <>
struct Product<float> : InFloat {
  static __device__ float load(float value) { return value; }
  static __device__ float store(float value) { return value; }
};
template <>
struct Product<__half> : InFloat {
  static __device__ float load(__half value) { return __half2float(value); }
  static __device__ __half store(float value) { return __float2half_rn(value); }
};
template <>
struct Product<__nv_bfloat16> : InFloat {
  static __device__ float load(__nv_bfloat16 value) { return __bfloat162float(value); }
  static __device__ __nv_bfloat16 store(float value) { return __float2bfloat16_rn(value); }
};
template <typename T, __nv_fp8_interpretation_t Kind>
struct Fp8Product : InFloat {
  static __device__ float load(T value) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(value.__x, Kind))); }
  static __device__ T store(float value) {
    T result;
    result.__x = __nv_cvt_halfraw_to_fp8(__half_raw(__float2half_rn(value)), __NV_SATFINITE, Kind);
    return result;
  }
};
template <>
struct Product<__nv_fp8_e4m3> : Fp8Product<__nv_fp8_e4m3, __NV_E4M3> {};
template <>
struct Product<__nv_fp8_e5m2> : Fp8Product<__nv_fp8_e5m2, __NV_E5M2> {};

/// Integers wrap: in an unsigned type that nothing is promoted from.
template <typename C>
__device__ C product(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using Wrapping = std::conditional_t<(sizeof(C) < 4), uint32_t, std::make_unsigned_t<C>>;
    return static_cast<C>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
  } else {
    return a * b;
  }
}

__device__ uint64_t firstElement() {
  return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() {
  return uint64_t{gridDim.x} * blockDim.x;
}

template <typename T>
__global__ void multiply(T *to, const T *from, uint64_t elements, uint64_t bits, const T *scalar) {
  using P = Product<T>;
  const typename P::Compute factor = scalar ? P::load(*scalar) : P::ofBits(bits);
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = P::store(product(P::load(from[i]), factor));
}

/// Wide enough for every value of the type and for n.
template <typename T, typename Wide>
__global__ void divide(T *to, const T *from, uint64_t elements, uint32_t n) {
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = static_cast<T>(static_cast<Wide>(from[i]) / static_cast<Wide>(n));
}

} // namespace

using host::ElementType;

const void *multiplyKernel(ElementType type) {
  switch (type) {
  case ElementType::Int8: return reinterpret_cast<const void *>(&multiply<int8_t>);
  case ElementType::Uint8: return reinterpret_cast<const void *>(&multiply<uint8_t>);
  case ElementType::Int32: return reinterpret_cast<const void *>(&multiply<int32_t>);
  case ElementType::Uint32: return reinterpret_cast<const void *>(&multiply<uint32_t>);
  case ElementType::Int64: return reinterpret_cast<const void *>(&multiply<int64_t>);
  case ElementType::Uint64: return reinterpret_cast<const void *>(&multiply<uint64_t>);
  case ElementType::Half: return reinterpret_cast<const void *>(&multiply<__half>);
  case ElementType::Float: return reinterpret_cast<const void *>(&multiply<float>);
  case ElementType::Double: return reinterpret_cast<const void *>(&multiply<double>);
  case ElementType::Bfloat16: return reinterpret_cast<const void *>(&multiply<__nv_bfloat16>);
  case ElementType::Float8E4M3: return reinterpret_cast<const void *>(&multiply<__nv_fp8_e4m3>);
  case ElementType::Float8E5M2: return reinterpret_cast<const void *>(&multiply<__nv_fp8_e5m2>);
  }
  return nullptr;
}

const void *divideKernel(ElementType type) {
  switch (type) {
  case ElementType::Int8: return reinterpret_cast<const void *>(&divide<int8_t, int64_t>);
  case ElementType::Uint8: return reinterpret_cast<const void *>(&divide<uint8_t, uint64_t>);
  case ElementType::Int32: return reinterpret_cast<const void *>(&divide<int32_t, int64_t>);
  case ElementType::Uint32: return reinterpret_cast<const void *>(&divide<uint32_t, uint64_t>);
  case ElementType::Int64: return reinterpret_cast<const void *>(&divide<int64_t, int64_t>);
  case ElementType::Uint64: return reinterpret_cast<const void *>(&divide<uint64_t, uint64_t>);
  case ElementType::Half:
  case ElementType::Float:
  case ElementType::Double:
  case ElementType::Bfloat16:
  case ElementType::Float8E4M3:
  case ElementType::Float8E5M2: break;
  }
  return nullptr;
}

} // namespace gc3::cuda
