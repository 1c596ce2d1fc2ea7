// SPDX-License-Identifier: Apache-2.0
// Element-wise reductions as NCCL defines them, on raw arrays. half and bfloat16 are computed as float and rounded once
// per operation. fp8 is computed as half (rounded to half), then converted, saturating to the largest finite value.
// Integer sum and prod wrap. min and max of a NaN and a number return the number, like fmin and fmax.
#pragma once

#include "core/Factor.h"
#include "host/Simd.h"

namespace gc3::host {

/// Computes dst[i] = a[i] op b[i] for i < n. `dst` can equal `a` or `b`, but must not overlap them otherwise.
using ReduceKernel = void (*)(void *dst, const void *a, const void *b, size_t n);

/// Returns the kernel for an operation. For Avg returns the kernel of Sum, because the caller scales before or after
/// the sum. The processor must support `simd`.
ReduceKernel reduceKernel(core::ElementType type, core::ReduceOp op, Simd simd = bestSimd());

/// Computes dst[i] = src[i] * factor for i < elements, rounded like a product of two elements. `dst` can equal `src`.
void multiply(core::ElementType type, void *dst, const void *src, size_t elements, core::Factor factor,
              Simd simd = bestSimd());

/// Ends an average. Divides each element by n for integer types, rounding towards zero. Does nothing for floating-point
/// types.
void divideForAverage(core::ElementType type, void *data, size_t elements, uint32_t n);

} // namespace gc3::host
