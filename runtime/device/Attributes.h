// SPDX-License-Identifier: Apache-2.0
// What marks code that runs on a GPU, and on the host where tests emulate one.
#pragma once

#ifdef __CUDACC__
#define GC3_DEVICE __device__ __forceinline__
#else
#define GC3_DEVICE inline
#endif
