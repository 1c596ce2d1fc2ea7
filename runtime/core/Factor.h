// SPDX-License-Identifier: Apache-2.0
// What a rank's inputs are multiplied by before a sum: the reciprocal of an average, or the scalar of a reduction that
// users have made.
#pragma once

#include "core/Element.h"

namespace gc3::core {

/// A scalar of the elements' type in memory, read when they are multiplied; or, where `address` is null, bits of the
/// type that they are multiplied in: float for half, bfloat16 and fp8, else their own.
struct Factor {
  uint64_t bits = 0;
  const void *address = nullptr;
};

/// A sum of products: each rank multiplies its inputs by a factor of its own.
struct PreMulSum {
  ElementType type; ///< of the scalar, and of the elements
  Factor factor;
};

/// Before an average of a floating-point type: 1 / n, rounded to the type (half for fp8).
Factor reciprocalOf(ElementType type, uint32_t n);

/// The scalar of that type at `scalar`, read now.
Factor factorAt(ElementType type, const void *scalar);

} // namespace gc3::core
