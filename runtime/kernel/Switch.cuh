// SPDX-License-Identifier: Apache-2.0
// The instructions that access memory over the switch (PTX ISA, multimem; sm_90 and later), for the types and
// operations that the switch reduces. The host launches no such kernel on other GPUs, and for no other operation.
#pragma once

#include "kernel/Words.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace gc3::kernel {

template <typename T>
struct SwitchLoads;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define GC3_SWITCH_LOAD(operation)                                                                                     \
  asm volatile("multimem.ld_reduce.weak.global." operation " {%0, %1, %2, %3}, [%4];"                                  \
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])                                        \
               : "l"(address)                                                                                          \
               : "memory")
#define GC3_SWITCH_LOAD_FLOATS(operation)                                                                              \
  asm volatile("multimem.ld_reduce.weak.global." operation " {%0, %1, %2, %3}, [%4];"                                  \
               : "=f"(parts[0]), "=f"(parts[1]), "=f"(parts[2]), "=f"(parts[3])                                        \
               : "l"(address)                                                                                          \
               : "memory")
#else
#define GC3_SWITCH_LOAD(operation) __trap()
#define GC3_SWITCH_LOAD_FLOATS(operation) __trap()
#endif

__device__ __forceinline__ Pack packOf(const uint32_t *parts) {
  return {parts[0] | Word{parts[1]} << 32, parts[2] | Word{parts[3]} << 32};
}

template <>
struct SwitchLoads<float> {
  static __device__ __forceinline__ Pack load(Operation, [[maybe_unused]] size_t address) {
    float parts[4]{};
    GC3_SWITCH_LOAD_FLOATS("add.v4.f32");
    const uint32_t words[4]{__float_as_uint(parts[0]), __float_as_uint(parts[1]), __float_as_uint(parts[2]),
                            __float_as_uint(parts[3])};
    return packOf(words);
  }
};

template <>
struct SwitchLoads<__half> {
  static __device__ __forceinline__ Pack load(Operation op, [[maybe_unused]] size_t address) {
    uint32_t parts[4]{};
    if (op == Operation::Max)
      GC3_SWITCH_LOAD("max.v4.f16x2");
    else if (op == Operation::Min)
      GC3_SWITCH_LOAD("min.v4.f16x2");
    else
      GC3_SWITCH_LOAD("add.acc::f32.v4.f16x2");
    return packOf(parts);
  }
};

template <>
struct SwitchLoads<__nv_bfloat16> {
  static __device__ __forceinline__ Pack load(Operation op, [[maybe_unused]] size_t address) {
    uint32_t parts[4]{};
    if (op == Operation::Max)
      GC3_SWITCH_LOAD("max.v4.bf16x2");
    else if (op == Operation::Min)
      GC3_SWITCH_LOAD("min.v4.bf16x2");
    else
      GC3_SWITCH_LOAD("add.acc::f32.v4.bf16x2");
    return packOf(parts);
  }
};

#undef GC3_SWITCH_LOAD
#undef GC3_SWITCH_LOAD_FLOATS

} // namespace gc3::kernel
