// SPDX-License-Identifier: Apache-2.0
// Element-wise reductions with NCCL's meaning, as tables of kernels over raw arrays.
// half and bfloat16: computed as float and rounded once per operation. fp8: computed as half (rounded to half), then
// converted, saturating to the largest finite value. Integer sum and prod wrap. min and max: a NaN loses against a
// number, as fmin and fmax.
#pragma once

#include "host/Factor.h"
#include "host/Simd.h"

namespace gc3::host {

/// dst[i] = a[i] op b[i] for i < n. `dst` may be `a` or `b` itself, but may not overlap them otherwise.
using ReduceKernel = void (*)(void *dst, const void *a, const void *b, size_t n);

/// The kernel of an operation between two elements. Avg reduces as Sum: what makes it an average happens before or
/// after. `simd` has to be one that the processor supports.
ReduceKernel reduceKernel(ElementType type, ReduceOp op, Simd simd = bestSimd());

/// Before an average of a floating-point type: 1 / n, rounded to the type (half for fp8).
Factor reciprocalOf(ElementType type, uint32_t n);

/// The scalar of that type at `scalar`, read now.
Factor factorAt(ElementType type, const void *scalar);

/// dst[i] = src[i] * factor, rounded as a product of two elements is. `dst` may be `src`.
void multiply(ElementType type, void *dst, const void *src, size_t elements, Factor factor, Simd simd = bestSimd());

/// After an average: data[i] = data[i] / n, truncating, for the integer types. Floating-point types are left alone.
void divideForAverage(ElementType type, void *data, size_t elements, uint32_t n);

} // namespace gc3::host
