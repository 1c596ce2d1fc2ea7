// SPDX-License-Identifier: Apache-2.0
// What marks code that runs on a GPU, and on the host where tests emulate one; and loops that are short, rare and
// in many places, so that unrolling them only takes registers.
#pragma once

#ifdef __CUDACC__
#define GC3_DEVICE __device__ __forceinline__
#define GC3_ROLLED _Pragma("unroll 1")
#else
#define GC3_DEVICE inline
#define GC3_ROLLED
#endif
