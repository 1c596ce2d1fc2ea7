// SPDX-License-Identifier: Apache-2.0
// checkOutputs() divides each value into segments, which threads check in parallel. A thread computes a segment in
// batches that fit into the first-level cache.
#include "Reference.h"

#include "Parallel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
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

template <typename T>
auto widen(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<Wide<T>>(value);
  else
    return static_cast<double>(toFloat(value));
}

/// Unit roundoff and half the smallest subnormal number of a type's operations. For double, `tiny` is larger than this
/// half, which a double cannot represent.
struct Precision {
  double unit, tiny;
  double reciprocal; ///< unit roundoff of an average's reciprocal
};

Precision precisionOf(ElementType type) {
  constexpr Precision half{0x1p-11, 0x1p-25, 0x1p-11};
  switch (type) {
  case ElementType::Half: return half;
  case ElementType::Bfloat16: return {0x1p-8, 0x1p-134, 0x1p-8};
  case ElementType::Float: return {0x1p-24, 0x1p-150, 0x1p-24};
  case ElementType::Double: return {0x1p-53, 0x1p-1070, 0x1p-53};
  case ElementType::Float8E4M3: return {0x1p-4 + half.unit, 0x1p-10 + half.tiny, half.unit};
  case ElementType::Float8E5M2: return {0x1p-3 + half.unit, 0x1p-17 + half.tiny, half.unit};
  case ElementType::Int8:
  case ElementType::Uint8:
  case ElementType::Int32:
  case ElementType::Uint32:
  case ElementType::Int64:
  case ElementType::Uint64: break;
  }
  return {0, 0, 0};
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
  Wide<T> sum[batchElements];
  Wide<T> magnitude[batchElements];
  Wide<T> busy[batchElements]; ///< number of operands that are not neutral
  T best[batchElements];       ///< result of min and max

  void begin(Reduction op, const T *x, uint64_t n) {
    const Wide<T> neutral = op == Reduction::Prod ? 1 : 0;
    std::copy(x, x + n, best);
    std::fill(sum, sum + n, neutral);
    std::fill(magnitude, magnitude + n, neutral);
    std::fill(busy, busy + n, Wide<T>(0));
    add(op, x, n);
  }

  void add(Reduction op, const T *x, uint64_t n) {
    switch (op) {
    case Reduction::Sum:
    case Reduction::Avg:
    case Reduction::MulSum: return accumulate<false>(x, n);
    case Reduction::Prod: return accumulate<true>(x, n);
    case Reduction::Max: return extreme<false>(x, n);
    case Reduction::Min: return extreme<true>(x, n);
    }
  }

private:
  template <bool product>
  void accumulate(const T *__restrict x, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i)
      sum[i] = product ? sum[i] * widen(x[i]) : sum[i] + widen(x[i]);
    if constexpr (!std::is_integral_v<T>) {
      for (uint64_t i = 0; i < n; ++i)
        magnitude[i] = product ? magnitude[i] * absolute(widen(x[i])) : magnitude[i] + absolute(widen(x[i]));
      if constexpr (!alwaysBusy<T>(product))
        for (uint64_t i = 0; i < n; ++i)
          busy[i] += widen(x[i]) != Wide<T>(product ? 1 : 0);
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
  explicit Checker(const CheckJob &checked) : job(checked), precision(precisionOf(checked.type)) {}

  CheckResult run() {
    struct Item {
      size_t value;
      uint64_t begin, end;
    };
    std::vector<Item> items;
    uint64_t elements = 0;
    for (size_t value = 0; value < job.postcondition->values(); ++value) {
      uint64_t length = UINT64_MAX;
      for (auto chunk : job.postcondition->inputs(value))
        length = std::min(length, job.inputChunks.length(chunk.index));
      for (uint64_t begin = 0; begin < length && !job.postcondition->outputs(value).empty(); begin += segmentElements)
        items.push_back({value, begin, std::min(length, begin + segmentElements)});
      elements += length * (job.postcondition->inputs(value).size() + job.postcondition->outputs(value).size());
    }
    parallelFor(items.size(), elements, [&](size_t i) { segment(items[i].value, items[i].begin, items[i].end); });
    return result;
  }

private:
  using Chunk = Postcondition::Chunk;

  const T *input(Chunk chunk, uint64_t at) const {
    return reinterpret_cast<const T *>(job.inputs[chunk.rank]) + job.inputChunks.begin(chunk.index) + at;
  }
  const T *output(Chunk chunk, uint64_t at) const {
    return reinterpret_cast<const T *>(job.outputs[chunk.rank]) + job.outputChunks.begin(chunk.index) + at;
  }

  void segment(size_t value, uint64_t begin, uint64_t end) {
    auto inputs = job.postcondition->inputs(value);
    if (inputs.size() == 1 && job.op != Reduction::MulSum) {
      for (Chunk chunk : job.postcondition->outputs(value))
        if (uint64_t last = std::min(end, job.outputChunks.length(chunk.index)); begin < last)
          compareCopy(chunk, begin, input(inputs[0], begin), last - begin);
      return;
    }
    auto batch = std::make_unique<Batch<T>>();
    for (uint64_t at = begin; at < end; at += batchElements) {
      uint64_t n = std::min(batchElements, end - at);
      batch->begin(job.op, input(inputs[0], at), n);
      for (size_t i = 0; i < inputs.size(); ++i) // adds each factorOf() times; begin() has added the first once
        for (uint32_t times = i == 0; times < factorOf(job.op, inputs[i].rank); ++times)
          batch->add(job.op, input(inputs[i], at), n);
      finish(*batch, n, inputs.size());
      for (Chunk chunk : job.postcondition->outputs(value))
        if (uint64_t last = std::min(at + n, job.outputChunks.length(chunk.index)); at < last)
          compare(*batch, chunk, at, last - at);
    }
  }

  /// Turns magnitudes into tolerances. For an average, also divides the sums.
  void finish(Batch<T> &batch, uint64_t n, size_t operands) const {
    if constexpr (!std::is_integral_v<T>) {
      bool average = job.op == Reduction::Avg;
      const Wide<T> divisor = average ? static_cast<Wide<T>>(job.contributions) : 1;
      // The reference also rounds. This is its relative error, which is small.
      const Wide<T> own = static_cast<Wide<T>>(operands) * (sizeof(Wide<T>) > 8 ? Wide<T>(0x1p-63) : Wide<T>(0x1p-52));
      const bool counted = !alwaysBusy<T>(job.op == Reduction::Prod);
      const bool sums = job.op == Reduction::Sum || job.op == Reduction::MulSum;
      const Wide<T> exact = sums ? static_cast<Wide<T>>(job.wholeNumbers) : Wide<T>(0);
      for (uint64_t i = 0; i < n; ++i) {
        double busy = counted ? static_cast<double>(batch.busy[i]) : static_cast<double>(operands);
        double roundings = std::max(0.0, busy - 1) + (average ? 1 : 0);
        double x = roundings * precision.unit + (average ? precision.reciprocal : 0);
        double tiny = precision.tiny * (average ? busy : job.op == Reduction::Prod ? 16 : 0);
        double relative = x * (1 + x + x * x); // an upper bound of (1 + u)^k - 1, since coarse types have few roundings
        batch.sum[i] /= divisor;
        Wide<T> bound = batch.magnitude[i] / divisor * (relative + own) + tiny;
        batch.magnitude[i] = batch.magnitude[i] <= exact ? Wide<T>(0) : bound;
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

  /// Counts wrong elements. These loops vectorise, and compare() searches for wrong elements only if there are any.
  uint64_t countWrong(const Batch<T> &batch, const T *__restrict got, uint64_t n, bool extreme) const {
    uint64_t bad = 0;
    if (extreme) {
      for (uint64_t i = 0; i < n; ++i)
        bad += !(widen(got[i]) == widen(batch.best[i]));
    } else if constexpr (std::is_integral_v<T>) {
      for (uint64_t i = 0; i < n; ++i)
        bad += got[i] != integer(batch.sum[i]);
    } else {
      for (uint64_t i = 0; i < n; ++i)
        bad += !(absolute(widen(got[i]) - batch.sum[i]) <= batch.magnitude[i]);
    }
    return bad;
  }

  void compare(const Batch<T> &batch, Chunk chunk, uint64_t at, uint64_t n) {
    const T *got = output(chunk, at);
    bool extreme = job.op == Reduction::Min || job.op == Reduction::Max;
    auto differs = [&](uint64_t i) {
      if constexpr (std::is_integral_v<T>)
        return got[i] != (extreme ? batch.best[i] : integer(batch.sum[i]));
      else if (extreme)
        return !(widen(got[i]) == widen(batch.best[i]));
      else
        return !(absolute(widen(got[i]) - batch.sum[i]) <= batch.magnitude[i]);
    };
    if (countWrong(batch, got, n, extreme) == 0)
      return;
    for (uint64_t i = 0; i < n; ++i)
      if (differs(i)) {
        double expected;
        if constexpr (std::is_integral_v<T>)
          expected = static_cast<double>(extreme ? batch.best[i] : integer(batch.sum[i]));
        else
          expected = static_cast<double>(extreme ? Wide<T>(widen(batch.best[i])) : batch.sum[i]);
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
                 ? static_cast<T>(static_cast<Widest>(wrapped) / static_cast<Widest>(job.contributions))
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
  switch (job.type) {
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
