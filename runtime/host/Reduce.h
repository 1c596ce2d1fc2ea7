// SPDX-License-Identifier: Apache-2.0
// Element-wise reductions with NCCL's meaning, as tables of kernels over raw arrays.
// half and bfloat16: computed as float and rounded once per operation. fp8: computed as half (rounded to half), then
// converted, saturating to the largest finite value. Integer sum and prod wrap. min and max: a NaN loses against a
// number, as fmin and fmax.
#pragma once

#include "core/Factor.h"
#include "host/Simd.h"

namespace gc3::host {

/// dst[i] = a[i] op b[i] for i < n. `dst` may be `a` or `b` itself, but may not overlap them otherwise.
using ReduceKernel = void (*)(void *dst, const void *a, const void *b, size_t n);

/// The kernel of an operation between two elements. Avg reduces as Sum: what makes it an average happens before or
/// after. `simd` has to be one that the processor supports.
ReduceKernel reduceKernel(core::ElementType type, core::ReduceOp op, Simd simd = bestSimd());

/// dst[i] = src[i] * factor, rounded as a product of two elements is. `dst` may be `src`.
void multiply(core::ElementType type, void *dst, const void *src, size_t elements, core::Factor factor,
              Simd simd = bestSimd());

/// After an average: data[i] = data[i] / n, truncating, for the integer types. Floating-point types are left alone.
void divideForAverage(core::ElementType type, void *data, size_t elements, uint32_t n);

} // namespace gc3::host
