// SPDX-License-Identifier: Apache-2.0
// Tests which results gc3-run accepts if a sum or product exceeds the range of its type, and that it counts
// contributions that occur many times. Each test reduces one element.
#include "RunSupport.h"

#include "core/ElementArithmetic.h"

#include <limits>

using namespace gc3;
using core::ElementType;
using run::Reduction;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 notANumber = std::numeric_limits<double>::quiet_NaN();

/// The input of one rank, and how many times the output contains it.
struct Operand {
  double value;
  uint32_t times;
};

/// Returns whether the check accepts `got` as the reduction of the operands.
template <typename T>
bool acceptsBits(ElementType type, Reduction op, const std::vector<Operand> &operands, T got) {
  const auto ranks = static_cast<uint32_t>(operands.size());
  std::vector<uint32_t> valueBegin = {0, ranks}, rowOfRank(ranks, 1), rowBegin = {0, 1, 1}, rows = {1};
  rowOfRank[0] = 0;
  std::vector<bundle::fbs::Run> runs;
  std::vector<T> inputs;
  uint32_t contributions = 0;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    using Compute = typename core::ElementArithmetic<T>::Compute;
    runs.emplace_back(rank, 0, 0, 0, operands[rank].times);
    inputs.push_back(core::ElementArithmetic<T>::store(static_cast<Compute>(operands[rank].value)));
    contributions += operands[rank].times;
  }
  run::Postcondition post;
  std::vector<uint64_t> outputs(ranks, 0);
  outputs[0] = 1;
  EXPECT_EQ(
      post.load({valueBegin, runs, rowOfRank, rowBegin, rows}, std::vector<uint64_t>(ranks, 1), outputs, {0, ranks}),
      "");
  const run::Chunks chunks{1, 1, 1};
  run::CheckJob job{&post,      {type, run::purposeOf(op, true), ranks, contributions, 0, 0},
                    op,         static_cast<double>(run::wholeNumbers(type)),
                    chunks,     chunks,
                    {0, ranks}, {},
                    {}};
  for (const T &input : inputs)
    job.inputs.push_back(reinterpret_cast<const std::byte *>(&input));
  job.outputs.assign(ranks, reinterpret_cast<const std::byte *>(&got));
  return checkOutputs(job).wrong == 0;
}

bool accepts(ElementType type, Reduction op, const std::vector<Operand> &operands, double got) {
  return core::dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    using Compute = typename core::ElementArithmetic<T>::Compute;
    return acceptsBits<T>(type, op, operands, core::ElementArithmetic<T>::store(static_cast<Compute>(got)));
  });
}

} // namespace

TEST(RunOverflow, AnInfinityOfTheSumsSignIsRight) {
  struct Case {
    ElementType type;
    double value;
    uint32_t times;
    double largest;
  };
  for (const Case &of : {Case{ElementType::Half, 1480, 64, 65504}, Case{ElementType::Bfloat16, 3e38, 4, 0x1.fep127},
                         Case{ElementType::Float, 3e38, 4, 0x1.fffffep127},
                         Case{ElementType::Double, 1.5e308, 4, 0x1.fffffffffffffp1023}})
    for (double sign : {1.0, -1.0})
      for (Reduction op : {Reduction::Sum, Reduction::MulSum}) {
        const std::vector<Operand> operands{{sign * of.value, of.times}};
        SCOPED_TRACE(core::elementTypeName(of.type));
        EXPECT_TRUE(accepts(of.type, op, operands, sign * infinite));
        EXPECT_FALSE(accepts(of.type, op, operands, -sign * infinite));
        EXPECT_FALSE(accepts(of.type, op, operands, sign * of.largest));
        EXPECT_FALSE(accepts(of.type, op, operands, notANumber));
        EXPECT_FALSE(accepts(of.type, op, {{sign * of.value / 8, 2}}, sign * infinite)) << "the sum is in range";
      }
}

/// In some order of the additions, a partial sum exceeds the range.
TEST(RunOverflow, APartialSumCanBeInfinite) {
  for (double got : {0.0, infinite, -infinite, notANumber})
    EXPECT_TRUE(accepts(ElementType::Half, Reduction::Sum, {{1500, 64}, {-1500, 64}}, got)) << got;
  EXPECT_FALSE(accepts(ElementType::Half, Reduction::Sum, {{1500, 64}, {-1500, 64}}, 40000));
  EXPECT_TRUE(accepts(ElementType::Half, Reduction::Sum, {{1500, 64}, {-40000, 1}}, infinite));
  EXPECT_FALSE(accepts(ElementType::Half, Reduction::Sum, {{1500, 64}, {-40000, 1}}, -infinite));
  EXPECT_FALSE(accepts(ElementType::Half, Reduction::Sum, {{1500, 64}, {-40000, 1}}, notANumber));
}

TEST(RunOverflow, Fp8Saturates) {
  for (double sign : {1.0, -1.0}) {
    const std::vector<Operand> e4m3{{sign * 300, 3}}, e5m2{{sign * 40960, 3}};
    EXPECT_TRUE(accepts(ElementType::Float8E4M3, Reduction::Sum, e4m3, sign * 448));
    EXPECT_FALSE(accepts(ElementType::Float8E4M3, Reduction::Sum, e4m3, sign * 288));
    EXPECT_FALSE(accepts(ElementType::Float8E4M3, Reduction::Sum, e4m3, -sign * 448));
    EXPECT_FALSE(accepts(ElementType::Float8E4M3, Reduction::Sum, e4m3, notANumber));
    EXPECT_TRUE(accepts(ElementType::Float8E5M2, Reduction::Sum, e5m2, sign * 57344));
    EXPECT_FALSE(accepts(ElementType::Float8E5M2, Reduction::Sum, e5m2, 0));
    EXPECT_FALSE(accepts(ElementType::Float8E5M2, Reduction::Sum, e5m2, notANumber));
    const core::Float8E5M2 infinity{static_cast<uint8_t>(sign > 0 ? 0x7c : 0xfc)};
    EXPECT_FALSE(acceptsBits(ElementType::Float8E5M2, Reduction::Sum, e5m2, infinity));
  }
  // (256 + 256) - 256 saturates to 448 - 256, and 256 + (256 - 256) does not.
  for (double got : {192.0, 256.0})
    EXPECT_TRUE(accepts(ElementType::Float8E4M3, Reduction::Sum, {{256, 2}, {-256, 1}}, got)) << got;
  EXPECT_FALSE(accepts(ElementType::Float8E4M3, Reduction::Sum, {{256, 2}, {-256, 1}}, 448));
  // (16 * 16 * 16) / 16 saturates to 448 / 16.
  for (double got : {28.0, 256.0})
    EXPECT_TRUE(accepts(ElementType::Float8E4M3, Reduction::Prod, {{16, 3}, {0.0625, 1}}, got)) << got;
  EXPECT_FALSE(accepts(ElementType::Float8E4M3, Reduction::Prod, {{16, 3}, {0.0625, 1}}, -256));
}

TEST(RunOverflow, Products) {
  for (double sign : {1.0, -1.0}) {
    const std::vector<Operand> large{{sign * 2, 17}}, both{{sign * 2, 17}, {0.5, 17}},
        vanishing{{sign * 2, 31}, {0.5, 30}};
    EXPECT_TRUE(accepts(ElementType::Half, Reduction::Prod, large, sign * infinite));
    for (double wrong : {-sign * infinite, sign * 65504, notANumber})
      EXPECT_FALSE(accepts(ElementType::Half, Reduction::Prod, large, wrong)) << wrong;
    for (double right : {sign, sign * infinite})
      EXPECT_TRUE(accepts(ElementType::Half, Reduction::Prod, both, right)) << right;
    for (double wrong : {sign * 2, -sign * infinite, notANumber})
      EXPECT_FALSE(accepts(ElementType::Half, Reduction::Prod, both, wrong)) << wrong;
    for (double right : {0.0, sign * 2, sign * infinite, notANumber})
      EXPECT_TRUE(accepts(ElementType::Half, Reduction::Prod, vanishing, right)) << right;
    EXPECT_FALSE(accepts(ElementType::Half, Reduction::Prod, vanishing, -sign * infinite));
  }
}

/// The reference itself would overflow.
TEST(RunOverflow, HugeProducts) {
  for (ElementType type : {ElementType::Half, ElementType::Bfloat16, ElementType::Float, ElementType::Double}) {
    EXPECT_TRUE(accepts(type, Reduction::Prod, {{-1.75, 100'001}}, -infinite)) << core::elementTypeName(type);
    EXPECT_FALSE(accepts(type, Reduction::Prod, {{-1.75, 100'001}}, infinite)) << core::elementTypeName(type);
    EXPECT_TRUE(accepts(type, Reduction::Prod, {{-0.5, 100'001}}, 0)) << core::elementTypeName(type);
    EXPECT_FALSE(accepts(type, Reduction::Prod, {{-0.5, 100'001}}, infinite)) << core::elementTypeName(type);
  }
}

TEST(RunOverflow, IntegersWrapAround) {
  constexpr uint32_t times = 3'000'000'001;
  uint64_t power = 1, square = 3;
  for (uint32_t left = times; left != 0; left /= 2, square *= square)
    power *= left % 2 != 0 ? square : 1;
  for (uint64_t error : {uint64_t{0}, uint64_t{1}}) {
    const bool right = error == 0;
    const uint64_t sum = times * uint64_t{3} + error, product = power + error;
    const std::vector<Operand> threes{{3, times}};
    EXPECT_EQ(acceptsBits(ElementType::Int8, Reduction::Sum, threes, static_cast<int8_t>(sum)), right);
    EXPECT_EQ(acceptsBits(ElementType::Int32, Reduction::Sum, threes, static_cast<int32_t>(sum)), right);
    EXPECT_EQ(acceptsBits(ElementType::Uint64, Reduction::Sum, threes, sum), right);
    EXPECT_EQ(acceptsBits(ElementType::Uint8, Reduction::Prod, threes, static_cast<uint8_t>(product)), right);
    EXPECT_EQ(acceptsBits(ElementType::Int64, Reduction::Prod, threes, static_cast<int64_t>(product)), right);
    EXPECT_EQ(acceptsBits(ElementType::Uint32, Reduction::Max, threes, static_cast<uint32_t>(3 + error)), right);
  }
}

/// From 16384 contributions on, half rounds the reciprocal of their number to a subnormal number.
TEST(RunOverflow, AveragesOfManyContributions) {
  for (ElementType type : {ElementType::Half, ElementType::Float})
    for (uint32_t idle : {59'999u, 99'999u}) {
      const float n = static_cast<float>(idle + 1);
      const float reciprocal = type == ElementType::Half ? core::toFloat(core::toHalf(1 / n)) : 1 / n;
      const std::vector<Operand> operands{{150, 1}, {0, idle}};
      EXPECT_TRUE(accepts(type, Reduction::Avg, operands, 150 * reciprocal)) << idle;
      EXPECT_FALSE(accepts(type, Reduction::Avg, operands, 300 * reciprocal)) << idle;
    }
}
