// SPDX-License-Identifier: Apache-2.0
// The kernels around a launch: elements are multiplied before they are reduced, or divided afterwards.
#include "cuda/Kernels.h"
#include "cuda/Product.cuh"

namespace gc3::cuda {

namespace {

__device__ uint64_t firstElement() {
  return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() {
  return uint64_t{gridDim.x} * blockDim.x;
}

template <typename T>
__global__ void multiply(T *to, const T *from, uint64_t elements, uint64_t bits, const T *scalar) {
  const auto factor = factorOf(bits, scalar);
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = multiplied(from[i], factor);
}

template <typename T>
__global__ void divide(T *to, const T *from, uint64_t elements, uint32_t n) {
  for (uint64_t i = firstElement(); i < elements; i += stride())
    to[i] = divided(from[i], n);
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
  case ElementType::Int8: return reinterpret_cast<const void *>(&divide<int8_t>);
  case ElementType::Uint8: return reinterpret_cast<const void *>(&divide<uint8_t>);
  case ElementType::Int32: return reinterpret_cast<const void *>(&divide<int32_t>);
  case ElementType::Uint32: return reinterpret_cast<const void *>(&divide<uint32_t>);
  case ElementType::Int64: return reinterpret_cast<const void *>(&divide<int64_t>);
  case ElementType::Uint64: return reinterpret_cast<const void *>(&divide<uint64_t>);
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
