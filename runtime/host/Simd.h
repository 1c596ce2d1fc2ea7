// SPDX-License-Identifier: Apache-2.0
// Loops over elements are compiled for several instruction sets. The best one that the processor supports is chosen at
// run time. All produce the same bits.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gc3::host {

/// Avx2 includes F16C. Avx512 includes both.
enum class Simd : uint8_t { Baseline, Avx2, Avx512 };
inline constexpr Simd allSimd[] = {Simd::Baseline, Simd::Avx2, Simd::Avx512};

#if defined(__x86_64__)
#define GC3_SIMD_AVX2 __attribute__((target("avx2,f16c"), flatten))
#define GC3_SIMD_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), flatten))

/// Returns whether the processor has F16C. Uses the CPUID instruction, because not every compiler knows this feature by
/// name.
inline bool convertsHalf() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

inline bool supports(Simd simd) {
  switch (simd) {
  case Simd::Baseline: return true;
  case Simd::Avx2: return __builtin_cpu_supports("avx2") && convertsHalf();
  case Simd::Avx512:
    return supports(Simd::Avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  return false;
}
#else
#define GC3_SIMD_AVX2
#define GC3_SIMD_AVX512
inline bool supports(Simd simd) {
  return simd == Simd::Baseline;
}
#endif

inline Simd bestSimd() {
  static const Simd best = supports(Simd::Avx512) ? Simd::Avx512 : supports(Simd::Avx2) ? Simd::Avx2 : Simd::Baseline;
  return best;
}

} // namespace gc3::host
