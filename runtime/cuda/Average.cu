// SPDX-License-Identifier: Apache-2.0
// What an average does to elements before or after the sum, with the host's results bit by bit (host/Reduce.h): halves
// of two multiply exactly in float, so that the only rounding is that to the type; fp8 rounds to half first.
#include "cuda/Kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace gc3::cuda {

namespace {

/// How a floating-point type is multiplied by 1 / n. `Compute` is what it is multiplied in.
template <typename T>
struct Scaling {
  using Compute = T;
  static __device__ T load(T value) { return value; }
  static __device__ T store(T value) { return value; }
  static __device__ T reciprocal(uint32_t n) { return T(1) / static_cast<T>(n); }
};
struct HalfReciprocal {
  using Compute = float;
  static __device__ float reciprocal(uint32_t n) { return __half2float(__float2half_rn(1.0f / static_cast<float>(n))); }
};
template <>
struct Scaling<__half> : HalfReciprocal {
  static __device__ float load(__half value) { return __half2float(value); }
  static __device__ __half store(float value) { return __float2half_rn(value); }
};
template <>
struct Scaling<__nv_bfloat16> {
  using Compute = float;
  static __device__ float load(__nv_bfloat16 value) { return __bfloat162float(value); }
  static __device__ __nv_bfloat16 store(float value) { return __float2bfloat16_rn(value); }
  static __device__ float reciprocal(uint32_t n) {
    return __bfloat162float(__float2bfloat16_rn(1.0f / static_cast<float>(n)));
  }
};
template <typename T, __nv_fp8_interpretation_t Kind>
struct Fp8Scaling : HalfReciprocal {
  static __device__ float load(T value) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(value.__x, Kind))); }
  static __device__ T store(float value) {
    T result;
    result.__x = __nv_cvt_halfraw_to_fp8(__half_raw(__float2half_rn(value)), __NV_SATFINITE, Kind);
    return result;
  }
};
template <>
struct Scaling<__nv_fp8_e4m3> : Fp8Scaling<__nv_fp8_e4m3, __NV_E4M3> {};
template <>
struct Scaling<__nv_fp8_e5m2> : Fp8Scaling<__nv_fp8_e5m2, __NV_E5M2> {};

__device__ uint64_t firstElement() {
  return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() {
  return uint64_t{gridDim.x} * blockDim.x;
}

template <typename T>
__global__ void scale(T *to, const T *from, uint64_t elements, uint32_t n) {
  using S = Scaling<T>;
  const typename S::Compute factor = S::reciprocal(n);
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = S::store(S::load(from[i]) * factor);
}

/// Wide enough for every value of the type and for n.
template <typename T, typename Wide>
__global__ void divide(T *to, const T *from, uint64_t elements, uint32_t n) {
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = static_cast<T>(static_cast<Wide>(from[i]) / static_cast<Wide>(n));
}

const void *scaleKernel(host::ElementType type) {
  using host::ElementType;
  switch (type) {
  case ElementType::Half: return reinterpret_cast<const void *>(&scale<__half>);
  case ElementType::Float: return reinterpret_cast<const void *>(&scale<float>);
  case ElementType::Double: return reinterpret_cast<const void *>(&scale<double>);
  case ElementType::Bfloat16: return reinterpret_cast<const void *>(&scale<__nv_bfloat16>);
  case ElementType::Float8E4M3: return reinterpret_cast<const void *>(&scale<__nv_fp8_e4m3>);
  case ElementType::Float8E5M2: return reinterpret_cast<const void *>(&scale<__nv_fp8_e5m2>);
  case ElementType::Int8:
  case ElementType::Uint8:
  case ElementType::Int32:
  case ElementType::Uint32:
  case ElementType::Int64:
  case ElementType::Uint64: break;
  }
  return nullptr;
}

const void *divideKernel(host::ElementType type) {
  using host::ElementType;
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

} // namespace

const void *averagingKernel(host::ElementType type, Averaging averaging) {
  return averaging == Averaging::Scale ? scaleKernel(type) : divideKernel(type);
}

} // namespace gc3::cuda
