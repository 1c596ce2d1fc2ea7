// SPDX-License-Identifier: Apache-2.0
// Reductions in half for processors that convert half by instructions (F16C), which compilers don't choose by
// themselves.
#pragma once

#include "host/Reduce.h"

namespace gc3::host {

/// The kernel for half and both fp8 on processors with Simd::Avx2; `type` may be no other. The same bits as the kernels
/// for Simd::Baseline.
ReduceKernel f16cKernel(core::ElementType type, core::ReduceOp op);

/// dst[i] = src[i] * scale for i < n, for the same types and processors. `dst` may be `src`.
void f16cScale(core::ElementType type, void *dst, const void *src, size_t n, float scale);

} // namespace gc3::host
