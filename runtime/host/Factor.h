// SPDX-License-Identifier: Apache-2.0
// What a rank's inputs are multiplied by before a sum: the reciprocal of an average, or the scalar of a reduction that
// users have made.
#pragma once

#include "host/Element.h"

namespace gc3::host {

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

} // namespace gc3::host
