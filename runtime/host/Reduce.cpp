// SPDX-License-Identifier: Apache-2.0
// Kernels of Reduce.h: one loop, instantiated by type and operation. The loop carries nothing from one element to the
// next, which the pragma tells the compiler, since dst may be one of the sources and a run-time overlap check would
// then choose scalar code. Products and sums are never contracted (-ffp-contract=off), or results would depend on the
// instruction set.
#include "host/Reduce.h"
#include "host/ReduceF16c.h"

#include <cstring>
#include <type_traits>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" // sanitizers and -O0 do not vectorise, which is no mistake
#define GC3_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define GC3_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace gc3::host {

namespace {

/// How a type is computed with: Compute is what the operation sees, load and store convert.
template <typename T>
struct Arithmetic {
  using Compute = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

template <>
struct Arithmetic<Half> {
  using Compute = float;
  static float load(Half value) { return toFloat(value); }
  static Half store(float value) { return toHalf(value); }
};

template <>
struct Arithmetic<Bfloat16> {
  using Compute = float;
  static float load(Bfloat16 value) { return toFloat(value); }
  static Bfloat16 store(float value) { return toBfloat16(value); }
};

template <>
struct Arithmetic<Float8E4M3> {
  using Compute = float;
  static float load(Float8E4M3 value) { return toFloat(value); }
  static Float8E4M3 store(float value) { return toFloat8E4M3(toFloat(toHalf(value))); }
};

template <>
struct Arithmetic<Float8E5M2> {
  using Compute = float;
  static float load(Float8E5M2 value) { return toFloat(value); }
  static Float8E5M2 store(float value) { return toFloat8E5M2(toFloat(toHalf(value))); }
};

/// Unsigned where overflow would be undefined; at least int wide so that nothing is promoted to a signed type on the
/// way.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <ReduceOp op, typename C>
C apply(C a, C b) {
  if constexpr (op == ReduceOp::Min)
    return ((a < b) | (b != b)) ? a : b;
  else if constexpr (op == ReduceOp::Max)
    return ((a > b) | (b != b)) ? a : b;
  else if constexpr (std::is_integral_v<C>)
    return op == ReduceOp::Prod ? static_cast<C>(static_cast<Wrapping<C>>(a) * static_cast<Wrapping<C>>(b))
                                : static_cast<C>(static_cast<Wrapping<C>>(a) + static_cast<Wrapping<C>>(b));
  else
    return op == ReduceOp::Prod ? a * b : a + b;
}

template <typename T, ReduceOp op>
inline __attribute__((always_inline)) void reduceLoop(void *dstBytes, const void *aBytes, const void *bBytes,
                                                      size_t n) {
  using A = Arithmetic<T>;
  auto *dst = static_cast<T *>(dstBytes);
  auto *a = static_cast<const T *>(aBytes);
  auto *b = static_cast<const T *>(bBytes);
  GC3_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < n; ++i)
    dst[i] = A::store(apply<op, typename A::Compute>(A::load(a[i]), A::load(b[i])));
}

template <typename T, ReduceOp op>
void reduceBaseline(void *dst, const void *a, const void *b, size_t n) {
  reduceLoop<T, op>(dst, a, b, n);
}
template <typename T, ReduceOp op>
GC3_SIMD_AVX2 void reduceAvx2(void *dst, const void *a, const void *b, size_t n) {
  reduceLoop<T, op>(dst, a, b, n);
}
template <typename T, ReduceOp op>
GC3_SIMD_AVX512 void reduceAvx512(void *dst, const void *a, const void *b, size_t n) {
  reduceLoop<T, op>(dst, a, b, n);
}

template <typename T, ReduceOp op>
ReduceKernel compiledFor(Simd simd) {
  switch (simd) {
  case Simd::Baseline: return reduceBaseline<T, op>;
  case Simd::Avx2: return reduceAvx2<T, op>;
  case Simd::Avx512: return reduceAvx512<T, op>;
  }
  return nullptr;
}

template <typename T>
ReduceKernel kernelOf(ReduceOp op, Simd simd) {
  switch (op) {
  case ReduceOp::Sum:
  case ReduceOp::Avg: return compiledFor<T, ReduceOp::Sum>(simd);
  case ReduceOp::Prod: return compiledFor<T, ReduceOp::Prod>(simd);
  case ReduceOp::Max: return compiledFor<T, ReduceOp::Max>(simd);
  case ReduceOp::Min: return compiledFor<T, ReduceOp::Min>(simd);
  }
  return nullptr;
}

/// Calls `function` with a value of the element's C++ type.
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

/// 1 / n as the type holds it; fp8 scales in half, as it reduces.
template <typename T>
auto reciprocal(uint32_t n) {
  using Compute = typename Arithmetic<T>::Compute;
  Compute exact = Compute(1) / static_cast<Compute>(n);
  if constexpr (std::is_same_v<T, Bfloat16>)
    return toFloat(toBfloat16(exact));
  else if constexpr (sizeof(T) < 4)
    return toFloat(toHalf(exact));
  else
    return exact;
}

/// A factor that is known by now.
template <typename Compute>
Factor known(Compute value) {
  Factor factor;
  std::memcpy(&factor.bits, &value, sizeof value);
  return factor;
}

template <typename T>
auto valueOf(const Factor &factor) {
  typename Arithmetic<T>::Compute value;
  if (factor.address) {
    T scalar;
    std::memcpy(&scalar, factor.address, sizeof scalar);
    return Arithmetic<T>::load(scalar);
  }
  std::memcpy(&value, &factor.bits, sizeof value);
  return value;
}

} // namespace

ReduceKernel reduceKernel(ElementType type, ReduceOp op, Simd simd) {
  if (simd != Simd::Baseline && isReducedInHalf(type))
    return f16cKernel(type, op);
  return dispatch(type, [op, simd](auto value) { return kernelOf<decltype(value)>(op, simd); });
}

Factor reciprocalOf(ElementType type, uint32_t n) {
  return dispatch(type, [n](auto value) { return known(reciprocal<decltype(value)>(n)); });
}

Factor factorAt(ElementType type, const void *scalar) {
  return dispatch(type, [scalar](auto value) { return known(valueOf<decltype(value)>({0, scalar})); });
}

void multiply(ElementType type, void *dst, const void *src, size_t elements, Factor factor, Simd simd) {
  dispatch(type, [=](auto value) {
    using T = decltype(value);
    using A = Arithmetic<T>;
    const auto scale = valueOf<T>(factor);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>)
      if (simd != Simd::Baseline)
        return f16cScale(type, dst, src, elements, scale);
    auto *to = static_cast<T *>(dst);
    auto *from = static_cast<const T *>(src);
    GC3_INDEPENDENT_ITERATIONS
    for (size_t i = 0; i < elements; ++i)
      to[i] = A::store(apply<ReduceOp::Prod, typename A::Compute>(A::load(from[i]), scale));
  });
}

void divideForAverage(ElementType type, void *data, size_t elements, uint32_t n) {
  dispatch(type, [=](auto value) {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T>) {
      // Wide enough for every value of the type and for n.
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      auto *elementsOfT = static_cast<T *>(data);
      for (size_t i = 0; i < elements; ++i)
        elementsOfT[i] = static_cast<T>(static_cast<Wide>(elementsOfT[i]) / static_cast<Wide>(n));
    }
  });
}

} // namespace gc3::host
