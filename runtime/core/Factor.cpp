// SPDX-License-Identifier: Apache-2.0
#include "core/Factor.h"

#include "core/ElementArithmetic.h"

#include <type_traits>

namespace gc3::core {

namespace {

/// Returns 1 / n, rounded to the type. For fp8 it is rounded to half, since fp8 is reduced in half.
template <typename T>
auto reciprocal(uint32_t n) {
  using Compute = typename ElementArithmetic<T>::Compute;
  Compute exact = Compute(1) / static_cast<Compute>(n);
  if constexpr (std::is_same_v<T, Bfloat16>)
    return toFloat(toBfloat16(exact));
  else if constexpr (sizeof(T) < 4)
    return toFloat(toHalf(exact));
  else
    return exact;
}

/// Returns a factor that has a value and no address.
template <typename Compute>
Factor known(Compute value) {
  Factor factor;
  std::memcpy(&factor.bits, &value, sizeof value);
  return factor;
}

} // namespace

Factor reciprocalOf(ElementType type, uint32_t n) {
  return dispatch(type, [n](auto value) { return known(reciprocal<decltype(value)>(n)); });
}

Factor factorAt(ElementType type, const void *scalar) {
  return dispatch(type, [scalar](auto value) { return known(valueOf<decltype(value)>({0, scalar})); });
}

} // namespace gc3::core
