// SPDX-License-Identifier: Apache-2.0
// The kernels of Reduce.h: one loop, instantiated for each type and operation. A pragma tells the compiler that
// iterations are independent. Without the pragma, the compiler would check for overlap at run time, and choose scalar
// code if dst equals a source. Products and sums are never contracted (-ffp-contract=off), because results would then
// depend on the instruction set.
#include "host/Reduce.h"

#include "core/ElementArithmetic.h"
#include "host/ReduceF16c.h"

#include <type_traits>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" // sanitizers and -O0 do not vectorise; that is no error
#define GC3_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define GC3_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace gc3::host {

using namespace core;

namespace {

/// The unsigned type in which integers of type T are added and multiplied, since signed overflow is undefined. It is at
/// least as wide as int, because narrower types would be promoted to int, which is signed.
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
  using A = ElementArithmetic<T>;
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

} // namespace

ReduceKernel reduceKernel(ElementType type, ReduceOp op, Simd simd) {
  if (simd != Simd::Baseline && isReducedInHalf(type))
    return f16cKernel(type, op);
  return dispatch(type, [op, simd](auto value) { return kernelOf<decltype(value)>(op, simd); });
}

void multiply(ElementType type, void *dst, const void *src, size_t elements, Factor factor, Simd simd) {
  dispatch(type, [=](auto value) {
    using T = decltype(value);
    using A = ElementArithmetic<T>;
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
      // A type that can hold every value of T, and n.
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      auto *elementsOfT = static_cast<T *>(data);
      for (size_t i = 0; i < elements; ++i)
        elementsOfT[i] = static_cast<T>(static_cast<Wide>(elementsOfT[i]) / static_cast<Wide>(n));
    }
  });
}

} // namespace gc3::host
