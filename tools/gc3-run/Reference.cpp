// SPDX-License-Identifier: Apache-2.0
// checkOutputs() divides each value into segments, which threads check in parallel. A segment is computed in batches
// that fit into the first-level cache.
#include "Reference.h"

#include "Parallel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

namespace gc3::run {

using namespace core;

namespace {

constexpr uint64_t batchElements = 1024;
constexpr uint64_t segmentElements = 64 * batchElements;

/// The type in which the reference is accumulated. It wraps like the type itself for integers, and is more precise for
/// other types.
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                std::conditional_t<std::is_same_v<T, double>, long double, double>>;

/// The largest finite reference. References do not become infinite, so that their differences are no NaNs.
template <typename T>
constexpr Wide<T> most = std::numeric_limits<Wide<T>>::max();

template <typename T>
auto widen(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<Wide<T>>(value);
  else
    return static_cast<double>(toFloat(value));
}

/// Rounding and range of a type's operations.
struct Precision {
  double unit, tiny;                 ///< unit roundoff, and half the smallest subnormal number
  double reciprocal, tinyReciprocal; ///< the same for an average's reciprocal
  double largest;                    ///< largest finite value
  bool saturates = false;            ///< results beyond `largest` become `largest`, else infinite
};

Precision precisionOf(ElementType type) {
  constexpr Precision half{0x1p-11, 0x1p-25, 0x1p-11, 0x1p-25, 65504};
  switch (type) {
  case ElementType::Half: return half;
  case ElementType::Bfloat16: return {0x1p-8, 0x1p-134, 0x1p-8, 0x1p-134, 0x1.fep127};
  case ElementType::Float: return {0x1p-24, 0x1p-150, 0x1p-24, 0x1p-150, 0x1.fffffep127};
  case ElementType::Double: return {0x1p-53, 0x1p-1070, 0x1p-53, 0x1p-1070, 0x1.fffffffffffffp1023};
  case ElementType::Float8E4M3: return {0x1p-4 + half.unit, 0x1p-10 + half.tiny, half.unit, half.tiny, 448, true};
  case ElementType::Float8E5M2: return {0x1p-3 + half.unit, 0x1p-17 + half.tiny, half.unit, half.tiny, 57344, true};
  case ElementType::Int8:
  case ElementType::Uint8:
  case ElementType::Int32:
  case ElementType::Uint32:
  case ElementType::Int64:
  case ElementType::Uint64: break;
  }
  return {};
}

/// Returns true if inputs of this type are never neutral (Inputs.h), so that busy operands need not be counted.
template <typename T>
constexpr bool alwaysBusy(bool product) {
  return !product && (std::is_same_v<T, float> || std::is_same_v<T, double>);
}

/// Returns the magnitude without a branch on data.
template <typename C>
C absolute(C value) {
  return std::fabs(value);
}

/// One batch of one value: the accumulated result and, for types that round, the data for the tolerance. The loops have
/// no branches, so that they vectorise. Each loop reads x once and writes one array.
template <typename T>
struct Batch {
  /// The sum or the product. For floats, the product has only the factors of magnitude up to 1 until finish() completes
  /// it.
  Wide<T> result[batchElements];
  /// Floats: the sum of magnitudes, or the product of the magnitudes above 1. finish() adds the rounding errors, except
  /// for types that saturate. These types cut off what exceeds their range, and so also an error that makes a result
  /// larger.
  Wide<T> reach[batchElements];
  Wide<T> tolerance[batchElements]; ///< floats: number of operands that are not neutral, until finish()
  T best[batchElements];            ///< result of min and max

  void begin(Reduction op, const T *x, uint64_t n) {
    const Wide<T> neutral = op == Reduction::Prod ? 1 : 0;
    std::copy(x, x + n, best);
    std::fill(result, result + n, neutral);
    std::fill(reach, reach + n, neutral);
    std::fill(tolerance, tolerance + n, Wide<T>(0));
  }

  /// Adds each element of x `times` times.
  void add(Reduction op, const T *x, uint64_t n, uint64_t times) {
    switch (op) {
    case Reduction::Sum:
    case Reduction::Avg:
    case Reduction::MulSum: return sum(x, n, static_cast<Wide<T>>(times));
    case Reduction::Prod: return product(x, n, times);
    case Reduction::Max: return extreme<false>(x, n);
    case Reduction::Min: return extreme<true>(x, n);
    }
  }

private:
  void sum(const T *__restrict x, uint64_t n, Wide<T> times) {
    for (uint64_t i = 0; i < n; ++i)
      result[i] += times * widen(x[i]);
    if constexpr (!std::is_integral_v<T>) {
      for (uint64_t i = 0; i < n; ++i)
        reach[i] += times * absolute(widen(x[i]));
      if constexpr (!alwaysBusy<T>(false))
        for (uint64_t i = 0; i < n; ++i)
          tolerance[i] += widen(x[i]) != 0 ? times : 0;
    }
  }

  /// Multiplies by x to the power of `times`, by repeated squaring.
  void product(const T *__restrict x, uint64_t n, uint64_t times) {
    Wide<T> power[batchElements];
    for (uint64_t i = 0; i < n; ++i)
      power[i] = widen(x[i]);
    if constexpr (!std::is_integral_v<T>)
      for (uint64_t i = 0; i < n; ++i)
        tolerance[i] += power[i] != 1 ? static_cast<Wide<T>>(times) : 0;
    for (;;) {
      if (times % 2 != 0)
        multiply(power, n);
      times /= 2;
      if (times == 0)
        return;
      for (uint64_t i = 0; i < n; ++i)
        power[i] *= power[i];
    }
  }

  /// Multiplies floats in two parts, because one part can overflow and the other can become 0.
  void multiply(const Wide<T> *__restrict factor, uint64_t n) {
    if constexpr (std::is_integral_v<T>) {
      for (uint64_t i = 0; i < n; ++i)
        result[i] *= factor[i];
    } else {
      for (uint64_t i = 0; i < n; ++i)
        result[i] *= std::copysign(std::min<Wide<T>>(absolute(factor[i]), 1), factor[i]);
      for (uint64_t i = 0; i < n; ++i)
        reach[i] = std::min(reach[i] * std::max<Wide<T>>(absolute(factor[i]), 1), most<T>);
    }
  }

  template <bool smallest>
  void extreme(const T *__restrict x, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i)
      if constexpr (std::is_integral_v<T>)
        best[i] = smallest ? std::min(best[i], x[i]) : std::max(best[i], x[i]);
      else
        best[i] = (smallest ? widen(x[i]) < widen(best[i]) : widen(x[i]) > widen(best[i])) ? x[i] : best[i];
  }
};

template <typename T>
class Checker {
public:
  explicit Checker(const CheckJob &checked) : job(checked), precision(precisionOf(checked.inputKind.type)) {}

  CheckResult run() {
    struct Item {
      size_t value;
      uint64_t begin, end;
    };
    std::vector<Item> items;
    uint64_t elements = 0;
    for (size_t value = 0; value < job.postcondition->values(); ++value) {
      uint64_t length = UINT64_MAX;
      for (auto input : job.postcondition->inputs(value))
        length = std::min(length, job.inputChunks.length(input.chunk.index));
      for (uint64_t begin = 0; begin < length && !job.postcondition->outputs(value).empty(); begin += segmentElements)
        items.push_back({value, begin, std::min(length, begin + segmentElements)});
      elements += length * (job.postcondition->inputs(value).size() + job.postcondition->outputs(value).size());
    }
    parallelFor(items.size(), elements, [&](size_t i) { segment(items[i].value, items[i].begin, items[i].end); });
    return result;
  }

private:
  using Chunk = Postcondition::Chunk;

  /// Returns `n` elements of an input chunk, from element `at` on. If another process has them, makes them in `made`.
  const T *input(Chunk chunk, uint64_t at, uint64_t n, T *made) const {
    const uint64_t first = job.inputChunks.begin(chunk.index) + at;
    if (chunk.rank >= job.own.first && chunk.rank < job.own.end)
      return reinterpret_cast<const T *>(job.inputs[chunk.rank - job.own.first]) + first;
    makeInput(job.inputKind, made, first, n, chunk.rank);
    return made;
  }
  const T *output(Chunk chunk, uint64_t at) const {
    return reinterpret_cast<const T *>(job.outputs[chunk.rank - job.own.first]) + job.outputChunks.begin(chunk.index) +
           at;
  }

  void segment(size_t value, uint64_t begin, uint64_t end) {
    auto inputs = job.postcondition->inputs(value);
    if (inputs.size() == 1 && inputs[0].times == 1 && job.op != Reduction::MulSum)
      copies(value, inputs[0].chunk, begin, end);
    else
      reductions(value, inputs, begin, end);
  }

  void copies(size_t value, Chunk from, uint64_t begin, uint64_t end) {
    T made[batchElements];
    for (uint64_t at = begin; at < end; at += batchElements) {
      const uint64_t n = std::min(batchElements, end - at);
      const T *expected = input(from, at, n, made);
      for (Chunk chunk : job.postcondition->outputs(value))
        if (uint64_t last = std::min(at + n, job.outputChunks.length(chunk.index)); at < last)
          compareCopy(chunk, at, expected, last - at);
    }
  }

  void reductions(size_t value, std::span<const Postcondition::Input> inputs, uint64_t begin, uint64_t end) {
    auto batch = std::make_unique<Batch<T>>();
    T made[batchElements];
    for (uint64_t at = begin; at < end; at += batchElements) {
      uint64_t n = std::min(batchElements, end - at), operands = 0;
      for (auto [chunk, times] : inputs) {
        const T *x = input(chunk, at, n, made);
        if (operands == 0)
          batch->begin(job.op, x, n);
        batch->add(job.op, x, n, uint64_t{times} * factorOf(job.op, chunk.rank));
        operands += times;
      }
      finish(*batch, n, static_cast<double>(operands));
      for (Chunk chunk : job.postcondition->outputs(value))
        if (uint64_t last = std::min(at + n, job.outputChunks.length(chunk.index)); at < last)
          compare(*batch, chunk, at, last - at);
    }
  }

  /// Completes products, turns sums into averages, and computes tolerances.
  void finish(Batch<T> &batch, uint64_t n, double operands) const {
    if constexpr (!std::is_integral_v<T>) {
      const bool average = job.op == Reduction::Avg, product = job.op == Reduction::Prod;
      const Wide<T> divisor = average ? static_cast<Wide<T>>(job.inputKind.contributions) : 1;
      // The relative error of the reference itself. It is small.
      const Wide<T> own = static_cast<Wide<T>>(operands) * (sizeof(Wide<T>) > 8 ? Wide<T>(0x1p-63) : Wide<T>(0x1p-52));
      const double reciprocal =
          average ? std::max(precision.reciprocal, precision.tinyReciprocal * job.inputKind.contributions) : 0;
      const bool counted = !alwaysBusy<T>(product);
      const bool sums = job.op == Reduction::Sum || job.op == Reduction::MulSum;
      const Wide<T> exact = sums ? static_cast<Wide<T>>(job.wholeNumbers) : Wide<T>(0);
      for (uint64_t i = 0; i < n; ++i) {
        double busy = counted ? static_cast<double>(batch.tolerance[i]) : operands;
        double roundings = std::max(0.0, busy - 1) + (average ? 1 : 0);
        double x = roundings * precision.unit + reciprocal;
        double relative = x * (1 + x + x * x); // exceeds (1 + u)^k - 1 up to x = 5; a larger x hides every contribution
        Wide<T> reach = batch.reach[i] / divisor;
        Wide<T> tiny = precision.tiny * (average ? busy : product ? busy * reach : 0);
        batch.result[i] = product ? batch.result[i] * reach : batch.result[i] / divisor;
        Wide<T> bound = (product ? absolute(batch.result[i]) : reach) * (relative + own) + tiny;
        batch.tolerance[i] = reach <= exact ? Wide<T>(0) : std::min(bound, most<T>);
        batch.reach[i] = precision.saturates ? reach : reach * (1 + 2 * (relative + own));
      }
    }
  }

  // NOLINTBEGIN(bugprone-suspicious-memory-comparison): a copy is right bit by bit, NaNs and zeros included
  void compareCopy(Chunk chunk, uint64_t at, const T *expected, uint64_t n) {
    const T *got = output(chunk, at);
    if (std::memcmp(got, expected, n * sizeof(T)) == 0)
      return;
    for (uint64_t i = 0; i < n; ++i)
      if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0)
        wrong(chunk, at + i, readable(got[i]), readable(expected[i]));
  }
  // NOLINTEND(bugprone-suspicious-memory-comparison)

  /// Counts elements that differ by more than the tolerance. These loops vectorise, and compare() looks at single
  /// elements only if there are any.
  uint64_t countDifferent(const Batch<T> &batch, const T *__restrict got, uint64_t n, bool extreme) const {
    uint64_t bad = 0;
    if (extreme) {
      for (uint64_t i = 0; i < n; ++i)
        bad += !(widen(got[i]) == widen(batch.best[i]));
    } else if constexpr (std::is_integral_v<T>) {
      for (uint64_t i = 0; i < n; ++i)
        bad += got[i] != integer(batch.result[i]);
    } else {
      for (uint64_t i = 0; i < n; ++i)
        bad += !(absolute(widen(got[i]) - batch.result[i]) <= batch.tolerance[i]);
    }
    return bad;
  }

  /// Returns true if partial results can exceed the range of the type in some order, and the result can then be `got`.
  bool isOverflow(const Batch<T> &batch, uint64_t i, Wide<T> got) const {
    const Wide<T> exact = batch.result[i], reach = batch.reach[i], largest = precision.largest;
    const bool product = job.op == Reduction::Prod;
    const bool isNegative = std::signbit(exact);
    // The magnitudes of the largest partial results that make the result too large, and too small.
    const Wide<T> up = !product ? (reach + exact) / 2 : isNegative ? 0 : reach;
    const Wide<T> down = !product ? (reach - exact) / 2 : isNegative ? reach : 0;
    if (precision.saturates) {
      auto lost = [&](Wide<T> partial) {
        return partial <= largest ? 0 : product ? absolute(exact) * (1 - largest / partial) : partial - largest;
      };
      return got >= exact - lost(up) - batch.tolerance[i] && got <= exact + lost(down) + batch.tolerance[i];
    }
    if (std::isinf(got))
      return (got > 0 ? up : down) > largest;
    const bool canVanish = product && absolute(exact) <= precision.tiny * reach;
    return std::isnan(got) && (product ? reach > largest && canVanish : up > largest && down > largest);
  }

  void compare(const Batch<T> &batch, Chunk chunk, uint64_t at, uint64_t n) {
    const T *got = output(chunk, at);
    bool extreme = job.op == Reduction::Min || job.op == Reduction::Max;
    auto isRight = [&](uint64_t i) {
      if constexpr (std::is_integral_v<T>)
        return got[i] == (extreme ? batch.best[i] : integer(batch.result[i]));
      else if (extreme)
        return widen(got[i]) == widen(batch.best[i]);
      else
        return absolute(widen(got[i]) - batch.result[i]) <= batch.tolerance[i] || isOverflow(batch, i, widen(got[i]));
    };
    if (countDifferent(batch, got, n, extreme) == 0)
      return;
    for (uint64_t i = 0; i < n; ++i)
      if (!isRight(i)) {
        double expected;
        if constexpr (std::is_integral_v<T>)
          expected = static_cast<double>(extreme ? batch.best[i] : integer(batch.result[i]));
        else
          expected = static_cast<double>(extreme ? Wide<T>(widen(batch.best[i])) : batch.result[i]);
        wrong(chunk, at + i, readable(got[i]), expected);
      }
  }

  static double readable(T value) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<double>(value);
    else
      return static_cast<double>(widen(value));
  }

  T integer(uint64_t sum) const {
    if constexpr (std::is_integral_v<T>) {
      auto wrapped = static_cast<T>(sum);
      using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return job.op == Reduction::Avg
                 ? static_cast<T>(static_cast<Widest>(wrapped) / static_cast<Widest>(job.inputKind.contributions))
                 : wrapped;
    } else {
      return T{};
    }
  }

  void wrong(Chunk chunk, uint64_t at, double got, double expected) {
    std::lock_guard lock(mutex);
    if (result.wrong++ != 0)
      return;
    char text[160];
    std::snprintf(text, sizeof text, "rank %u chunk %u element %llu of it: got %.9g, expected %.9g", chunk.rank,
                  chunk.index, static_cast<unsigned long long>(at), got, expected);
    result.first = text;
  }

  const CheckJob &job;
  const Precision precision;
  std::mutex mutex;
  CheckResult result;
};

} // namespace

CheckResult checkOutputs(const CheckJob &job) {
  switch (job.inputKind.type) {
  case ElementType::Int8: return Checker<int8_t>(job).run();
  case ElementType::Uint8: return Checker<uint8_t>(job).run();
  case ElementType::Int32: return Checker<int32_t>(job).run();
  case ElementType::Uint32: return Checker<uint32_t>(job).run();
  case ElementType::Int64: return Checker<int64_t>(job).run();
  case ElementType::Uint64: return Checker<uint64_t>(job).run();
  case ElementType::Half: return Checker<Half>(job).run();
  case ElementType::Float: return Checker<float>(job).run();
  case ElementType::Double: return Checker<double>(job).run();
  case ElementType::Bfloat16: return Checker<Bfloat16>(job).run();
  case ElementType::Float8E4M3: return Checker<Float8E4M3>(job).run();
  case ElementType::Float8E5M2: break;
  }
  return Checker<Float8E5M2>(job).run();
}

} // namespace gc3::run
