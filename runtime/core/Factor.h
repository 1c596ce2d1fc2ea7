// SPDX-License-Identifier: Apache-2.0
// The factor by which a rank's inputs are multiplied before a sum: the reciprocal for an average, or the scalar of a
// reduction that the application created.
#pragma once

#include "core/Element.h"

namespace gc3::core {

/// If `address` is not null: the address of a scalar of the elements' type, read when elements are multiplied. Else
/// `bits` holds a value of the type in which elements are multiplied: float for half, bfloat16 and fp8, else the
/// elements' own type.
struct Factor {
  uint64_t bits = 0;
  const void *address = nullptr;
};

/// A sum of products: each rank multiplies its inputs by its own factor.
struct PreMulSum {
  ElementType type; ///< type of the scalar and of the elements
  Factor factor;
};

/// Returns the factor for an average of a floating-point type: 1 / n, rounded to the type (to half for fp8).
Factor reciprocalOf(ElementType type, uint32_t n);

/// Reads the scalar of the given type at `scalar` now.
Factor factorAt(ElementType type, const void *scalar);

} // namespace gc3::core
