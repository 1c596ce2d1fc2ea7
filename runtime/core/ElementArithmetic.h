// SPDX-License-Identifier: Apache-2.0
// The arithmetic of each element type on the host. Operations on half and bfloat16 are computed in float. Operations on
// fp8 are computed in float, then rounded to half, then to fp8.
#pragma once

#include "core/Factor.h"

#include <cstring>

namespace gc3::core {

/// `Compute` is the type of the operands; `load` and `store` convert between it and the element type.
template <typename T>
struct ElementArithmetic {
  using Compute = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

template <>
struct ElementArithmetic<Half> {
  using Compute = float;
  static float load(Half value) { return toFloat(value); }
  static Half store(float value) { return toHalf(value); }
};

template <>
struct ElementArithmetic<Bfloat16> {
  using Compute = float;
  static float load(Bfloat16 value) { return toFloat(value); }
  static Bfloat16 store(float value) { return toBfloat16(value); }
};

template <>
struct ElementArithmetic<Float8E4M3> {
  using Compute = float;
  static float load(Float8E4M3 value) { return toFloat(value); }
  static Float8E4M3 store(float value) { return toFloat8E4M3(toFloat(toHalf(value))); }
};

template <>
struct ElementArithmetic<Float8E5M2> {
  using Compute = float;
  static float load(Float8E5M2 value) { return toFloat(value); }
  static Float8E5M2 store(float value) { return toFloat8E5M2(toFloat(toHalf(value))); }
};

/// Calls `function` with a zero of the C++ type of `type`, and returns its result.
template <typename Function>
auto dispatch(ElementType type, Function function) {
  switch (type) {
  case ElementType::Int8: return function(int8_t{});
  case ElementType::Uint8: return function(uint8_t{});
  case ElementType::Int32: return function(int32_t{});
  case ElementType::Uint32: return function(uint32_t{});
  case ElementType::Int64: return function(int64_t{});
  case ElementType::Uint64: return function(uint64_t{});
  case ElementType::Half: return function(Half{});
  case ElementType::Float: return function(float{});
  case ElementType::Double: return function(double{});
  case ElementType::Bfloat16: return function(Bfloat16{});
  case ElementType::Float8E4M3: return function(Float8E4M3{});
  case ElementType::Float8E5M2: break;
  }
  return function(Float8E5M2{});
}

/// Returns the value of a factor, converted to `Compute` of T. Reads the scalar if the factor has an address.
template <typename T>
auto valueOf(const Factor &factor) {
  typename ElementArithmetic<T>::Compute value;
  if (factor.address) {
    T scalar;
    std::memcpy(&scalar, factor.address, sizeof scalar);
    return ElementArithmetic<T>::load(scalar);
  }
  std::memcpy(&value, &factor.bits, sizeof value);
  return value;
}

} // namespace gc3::core
