// SPDX-License-Identifier: Apache-2.0
// GC3_DEVICE marks a function that runs on a GPU, and in tests also on an emulated GPU on the host. GC3_ROLLED precedes
// a loop that must not be unrolled: the loop is short, runs rarely and is inlined in many places, so unrolling would
// only cost registers.
#pragma once

#ifdef __CUDACC__
#define GC3_DEVICE __device__ __forceinline__
#define GC3_ROLLED _Pragma("unroll 1")
#define GC3_UNROLLED _Pragma("unroll")
#else
#define GC3_DEVICE inline
#define GC3_ROLLED
#define GC3_UNROLLED
#endif
