// SPDX-License-Identifier: Apache-2.0
// The factor by which a rank's inputs are multiplied before a sum. It is 1 / n for an average, or the scalar of a
// reduction operation that the application has created.
#pragma once

#include "core/Element.h"

namespace gc3::core {

/// If `address` is not null, it points to a scalar of the elements' type, which is read when elements are multiplied.
/// Otherwise `bits` holds the value in the type in which elements are multiplied: float for half, bfloat16 and fp8,
/// else the elements' own type.
struct Factor {
  uint64_t bits = 0;
  const void *address = nullptr;
};

/// A sum before which each rank multiplies its inputs by its own factor.
struct PreMulSum {
  ElementType type; ///< type of the scalar and of the elements
  Factor factor;
};

/// Returns the factor for an average of a floating-point type: 1 / n, rounded to the type (to half for fp8).
Factor reciprocalOf(ElementType type, uint32_t n);

/// Reads the scalar of type `type` at `scalar`, and returns a factor that holds its value.
Factor factorAt(ElementType type, const void *scalar);

} // namespace gc3::core
