// SPDX-License-Identifier: Apache-2.0
// The kernels that run before and after the interpreter. They multiply elements before a reduction, or divide them
// after it.
#include "kernel/Kernels.h"
#include "kernel/Product.cuh"

namespace gc3::kernel {

namespace {

__device__ uint64_t first() {
  return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() {
  return uint64_t{gridDim.x} * blockDim.x;
}

/// The elements that a thread loads and stores at once.
template <typename T>
struct alignas(16) ElementPack {
  static constexpr uint32_t size = 16 / sizeof(T);
  T elements[size];
};

/// Stores change(element) at `to` for each element at `from`. `to` and `from` can be equal. Accesses whole packs if
/// both are aligned to 16 bytes.
template <typename T, typename Change>
__device__ void changeEach(T *to, const T *from, uint64_t elements, Change change) {
  const bool areAligned = ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 15) == 0;
  const uint64_t packs = areAligned ? elements / ElementPack<T>::size : 0;
  for (uint64_t i = first(); i < packs; i += stride()) {
    ElementPack<T> pack = reinterpret_cast<const ElementPack<T> *>(from)[i];
#pragma unroll // otherwise the compiler may put the pack into local memory
    for (T &element : pack.elements)
      element = change(element);
    reinterpret_cast<ElementPack<T> *>(to)[i] = pack;
  }
  for (uint64_t i = packs * ElementPack<T>::size + first(); i < elements; i += stride())
    to[i] = change(from[i]);
}

template <typename T>
__global__ void multiply(T *to, const T *from, uint64_t elements, uint64_t bits, const T *scalar) {
  const auto factor = factorOf(bits, scalar);
  changeEach(to, from, elements, [factor](T element) { return multiplied(element, factor); });
}

template <typename T>
__global__ void divide(T *to, const T *from, uint64_t elements, uint32_t n) {
  changeEach(to, from, elements, [n](T element) { return divided(element, n); });
}

} // namespace

using core::ElementType;

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

} // namespace gc3::kernel
