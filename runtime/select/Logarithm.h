// SPDX-License-Identifier: Apache-2.0
// Logarithm and exponential that have the same bits on every machine. The functions of a C library can differ by its
// version and by the processor, and then ranks could choose different arms. These functions use only operations that
// IEEE 754 defines exactly; CMakeLists.txt forbids the compiler to fuse them.
#pragma once

namespace gc3::select {

/// Returns the natural logarithm with a relative error below 1e-6. `x` must be positive, finite and normal; infinity
/// and NaN are returned as they are.
float logarithm(float x);
/// Returns the natural logarithm of 1 + `x`, with a relative error below 1e-8. `x` must be finite and at least 0.
double logarithmOf1Plus(double x);

/// Returns e to the power of `x`, with a relative error below 1e-6. Returns infinity if the result is too large.
float exponential(float x);
/// Like exponential(), with a relative error below 1e-8.
double preciseExponential(double x);

} // namespace gc3::select
