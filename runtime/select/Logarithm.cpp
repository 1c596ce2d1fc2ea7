// SPDX-License-Identifier: Apache-2.0
// Series around 1 and 0, after the power of 2 is split off.
#include "select/Logarithm.h"

#include <cmath>
#include <limits>

namespace gc3::select {

static constexpr double ln2 = 0.693147180559945309417;

float logarithm(float x) {
  if (!std::isfinite(x))
    return x;
  int exponent = 0;
  double mantissa = std::frexp(static_cast<double>(x), &exponent); // 0.5 to 1; exact
  if (mantissa < 0.70710678118654752440)
    mantissa *= 2, --exponent;
  const double t = (mantissa - 1) / (mantissa + 1), square = t * t;
  const double series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9))));
  return static_cast<float>(exponent * ln2 + 2 * t * series);
}

float exponential(float x) {
  constexpr float limit = 88;
  if (x > limit)
    return std::numeric_limits<float>::infinity();
  if (x < -limit)
    return 0;
  const double power = std::nearbyint(x / ln2);
  const double rest = x - power * ln2; // at most ln2 / 2
  double sum = 1;
  for (int term = 8; term >= 1; --term)
    sum = 1 + sum * rest / term;
  return static_cast<float>(std::ldexp(sum, static_cast<int>(power)));
}

} // namespace gc3::select
