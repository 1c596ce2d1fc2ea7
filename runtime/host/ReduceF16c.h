// SPDX-License-Identifier: Apache-2.0
// Reductions of half and fp8 for processors with conversion instructions for half (F16C). Compilers do not select these
// instructions themselves.
#pragma once

#include "host/Reduce.h"

namespace gc3::host {

/// Returns the kernel for half or one of the fp8 types; no other `type` is allowed. The processor must support
/// Simd::Avx2. Results have the same bits as those of the kernels for Simd::Baseline.
ReduceKernel f16cKernel(core::ElementType type, core::ReduceOp op);

/// Computes dst[i] = src[i] * scale for i < n. `dst` can equal `src`. Types and processors as for f16cKernel().
void f16cScale(core::ElementType type, void *dst, const void *src, size_t n, float scale);

} // namespace gc3::host
