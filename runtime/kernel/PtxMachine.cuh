// SPDX-License-Identifier: Apache-2.0
// The operations that the interpreter needs from a GPU, in CUDA and PTX (sm_75 and later). Weak accesses are plain
// loads and stores. Strong accesses name their scope. LL relies on vector accesses: each element of a vector is loaded
// and stored untorn (PTX ISA, vector data types).
#pragma once

#include "kernel/Switch.cuh"
#include "kernel/Wait.h"
#include "kernel/Words.h"

namespace gc3::kernel {

class PtxMachine {
public:
  static constexpr bool hasNetwork = false; // runtime/gin has the machine with a network

  __device__ __forceinline__ uint32_t block() const { return blockIdx.x; }
  __device__ __forceinline__ uint32_t thread() const { return threadIdx.x; }
  __device__ __forceinline__ uint32_t threads() const { return blockDim.x; }
  __device__ __forceinline__ void barrier() { __syncthreads(); }
  /// A barrier that returns true if `holds` is true in any thread of the block.
  __device__ __forceinline__ bool barrierAny(bool holds) { return __syncthreads_or(holds) != 0; }
  /// Blocks consist of whole warps, so the mask names all lanes.
  __device__ __forceinline__ bool warpAll(bool holds) { return __all_sync(0xffffffff, holds); }
  __device__ __forceinline__ void pause() {}

  template <uint32_t G>
  __device__ __forceinline__ Unit<G> load(const std::byte *at) {
    if constexpr (G == sizeof(Pack)) {
      const ulonglong2 both = *globally<const ulonglong2>(at);
      return {both.x, both.y};
    } else {
      return *globally<const Unit<G>>(at);
    }
  }
  template <uint32_t G>
  __device__ __forceinline__ void store(std::byte *at, const Unit<G> &value) {
    if constexpr (G == sizeof(Pack)) // as parts of 32 bits, so that the compiler computes each in the register to store
      *globally<uint4>(at) = make_uint4(static_cast<uint32_t>(value.low), static_cast<uint32_t>(value.low >> 32),
                                        static_cast<uint32_t>(value.high), static_cast<uint32_t>(value.high >> 32));
    else
      *globally<Unit<G>>(at) = value;
  }

  __device__ __forceinline__ uint64_t acquire(const uint64_t *at, Scope scope) {
    uint64_t value;
    if (scope == Scope::Gpu)
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(global(at)) : "memory");
    else
      asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(global(at)) : "memory");
    return value;
  }
  __device__ __forceinline__ void fence(Scope scope) {
    if (scope == Scope::Gpu)
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    else
      asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
  __device__ __forceinline__ void publish(uint64_t *at, uint64_t value, Scope scope) {
    if (scope == Scope::Gpu)
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(global(at)), "l"(value) : "memory");
    else
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(global(at)), "l"(value) : "memory");
  }

  // These accesses use scope .sys even if both ranks share a GPU. A relaxed access orders nothing, so a wider scope
  // does not cost more.
  __device__ __forceinline__ Pack loadFlagged(const std::byte *at) {
    Pack pack;
    asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(pack.low), "=l"(pack.high)
                 : "l"(global(at))
                 : "memory");
    return pack;
  }
  __device__ __forceinline__ void storeFlagged(std::byte *at, const Pack &pack) {
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(global(at)), "l"(pack.low), "l"(pack.high)
                 : "memory");
  }
  /// Loads with a volatile access, as NCCL does, because LL128 relies on the behaviour of links, not on the memory
  /// model.
  __device__ __forceinline__ Pack loadLine(const std::byte *at) {
    Pack pack;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pack.low), "=l"(pack.high)
                 : "l"(global(at))
                 : "memory");
    return pack;
  }
  /// Stores with a volatile access, for the same reason. All lanes of a warp call this, also those that have no line.
  __device__ __forceinline__ void storeLine(bool hasLine, std::byte *at, const Pack &pack) {
    __syncwarp(); // makes the lanes of a line store it together
    if (hasLine)
      asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(global(at)), "l"(pack.low), "l"(pack.high)
                   : "memory");
  }

  /// Returns the reduction of the packs that all ranks have at an address of the switch.
  template <typename Arithmetic>
  __device__ __forceinline__ Pack loadOverSwitch(Operation op, const std::byte *at) {
    return SwitchLoads<typename Arithmetic::Element>::load(op, global(at));
  }
  /// Stores a pack to all ranks, at an address of the switch.
  __device__ __forceinline__ void storeOverSwitch([[maybe_unused]] std::byte *at, [[maybe_unused]] const Pack &pack) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("multimem.st.weak.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(global(at)), "f"(part(pack.low)),
                 "f"(part(pack.low >> 32)), "f"(part(pack.high)), "f"(part(pack.high >> 32))
                 : "memory");
#else
    __trap();
#endif
  }

  /// Returns nanoseconds, by a clock that all multiprocessors share. Its resolution depends on the GPU.
  __device__ __forceinline__ uint64_t now() {
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
  }

  __device__ __forceinline__ uint32_t loadStopWord(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(global(at)) : "memory");
    return value;
  }

private:
  /// Returns the low bits of a word as a register of the store over the switch, which exists only for floats.
  static __device__ __forceinline__ float part(Word word) {
    return __uint_as_float(static_cast<uint32_t>(word));
  }
  static __device__ __forceinline__ size_t global(const void *at) {
    return __cvta_generic_to_global(at);
  }
  /// Lets the compiler assume that the address is in global memory. Otherwise each access would determine at run time
  /// whether it is shared or local memory.
  template <typename T, typename Byte>
  static __device__ __forceinline__ T *globally(Byte *at) {
    __builtin_assume(__isGlobal(at));
    return reinterpret_cast<T *>(at);
  }
};

} // namespace gc3::kernel
