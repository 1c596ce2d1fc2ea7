// SPDX-License-Identifier: Apache-2.0
// Series around 1 and 0, after the power of 2 is split off.
#include "select/Logarithm.h"

#include <cmath>
#include <limits>

namespace gc3::select {

static constexpr double ln2 = 0.693147180559945309417;

/// Returns the logarithm of (1 + t) / (1 - t), for small t.
static double sumSeries(double t) {
  const double square = t * t;
  return 2 * t * (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9)))));
}

static double logarithmOf(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent); // 0.5 to 1; exact
  if (mantissa < 0.70710678118654752440)
    mantissa *= 2, --exponent;
  return exponent * ln2 + sumSeries((mantissa - 1) / (mantissa + 1));
}

float logarithm(float x) {
  return std::isfinite(x) ? static_cast<float>(logarithmOf(static_cast<double>(x))) : x;
}

double logarithmOf1Plus(double x) {
  constexpr double small = 0.4; // the sum 1 + x would lose bits of x
  return x < small ? sumSeries(x / (2 + x)) : logarithmOf(1 + x);
}

float exponential(float x) {
  constexpr float limit = 88;
  if (x > limit)
    return std::numeric_limits<float>::infinity();
  return x < -limit ? 0 : static_cast<float>(preciseExponential(static_cast<double>(x)));
}

double preciseExponential(double x) {
  constexpr double limit = 700;
  if (x > limit)
    return std::numeric_limits<double>::infinity();
  if (x < -limit)
    return 0;
  const double power = std::nearbyint(x / ln2);
  const double rest = x - power * ln2; // at most ln2 / 2
  double sum = 1;
  for (int term = 8; term >= 1; --term)
    sum = 1 + sum * rest / term;
  return std::ldexp(sum, static_cast<int>(power));
}

} // namespace gc3::select
