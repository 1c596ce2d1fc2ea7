// SPDX-License-Identifier: Apache-2.0
// Evaluates random expressions in gc3c and in a separate evaluator. Both must return the same number, or the same kind
// of error.
#include "Front.h"
#include <gtest/gtest.h>
#include <optional>
#include <random>

using namespace gc3;

namespace {

__extension__ typedef __int128 Wide;

/// A random int expression as text, and its expected result: the value, or the first error in evaluation order.
struct Sample {
  std::string text;
  Wide value = 0;
  std::optional<DiagId> error;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  Sample make(unsigned depth) {
    if (depth == 0 || pick(6) == 0)
      return leaf();
    switch (pick(4)) {
    case 0: return unary(make(depth - 1));
    case 1: return conditional(make(depth - 1), make(depth - 1), make(depth - 1));
    default: return binary(make(depth - 1), make(depth - 1));
    }
  }

private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }

  Sample leaf() {
    int64_t value = pick(4) == 0 ? static_cast<int64_t>(random()) : static_cast<int64_t>(pick(21)) - 10;
    return {std::to_string(value), value, std::nullopt};
  }

  static Sample limit(Sample sample, DiagId id = DiagId::Overflow) {
    if (!sample.error && (sample.value > INT64_MAX || sample.value < INT64_MIN))
      sample.error = id;
    return sample;
  }

  Sample unary(Sample a) {
    bool negate = pick(2) == 0;
    Sample result{(negate ? "(-(" : "(~(") + a.text + "))", 0, a.error};
    if (!a.error)
      result.value = negate ? -a.value : ~a.value;
    return limit(result);
  }

  Sample conditional(Sample a, Sample b, Sample c) {
    Sample result{"((" + a.text + ") < 0 ? (" + b.text + ") : (" + c.text + "))", 0, a.error};
    if (!a.error) {
      result.value = a.value < 0 ? b.value : c.value;
      result.error = a.value < 0 ? b.error : c.error;
    }
    return result;
  }

  Sample binary(Sample a, Sample b) {
    static constexpr const char *ops[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "min", "max"};
    unsigned which = pick(12);
    std::string op = ops[which];
    std::string text =
        which >= 10 ? op + "(" + a.text + ", " + b.text + ")" : "((" + a.text + ") " + op + " (" + b.text + "))";
    Sample result{text, 0, a.error ? a.error : b.error};
    if (result.error)
      return result;
    bool divides = op == "/" || op == "%", shifts = op == "<<" || op == ">>";
    if (divides && b.value == 0) {
      result.error = DiagId::DivisionByZero;
      return result;
    }
    if (shifts && (b.value < 0 || b.value > 63)) {
      result.error = DiagId::BadOperand;
      return result;
    }
    Wide floor = 0;
    if (divides) {
      floor = a.value / b.value;
      if (a.value % b.value != 0 && (a.value < 0) != (b.value < 0))
        --floor;
    }
    Wide power = shifts ? static_cast<Wide>(1) << b.value : 1;
    Wide values[] = {a.value + b.value,
                     a.value - b.value,
                     a.value * b.value,
                     floor,
                     a.value - floor * b.value,
                     a.value & b.value,
                     a.value | b.value,
                     a.value ^ b.value,
                     a.value * power,
                     shifts ? a.value >> b.value : 0,
                     a.value < b.value ? a.value : b.value,
                     a.value > b.value ? a.value : b.value};
    result.value = values[which];
    return limit(result);
  }

  std::mt19937_64 random;
};

} // namespace

TEST(Evaluation, RandomExpressions) {
  unsigned errors = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Sample sample = Generator(seed).make(5);
    std::string expected = std::to_string(static_cast<int64_t>(sample.error ? 0 : sample.value));
    std::string text =
        "param value: int = " + sample.text + ";\n" +
        "program p implements allreduce(ranks = 1, chunks = 1, inplace = true) { assert value == " + expected +
        ", \"{value}\"; }\n";
    test::Outcome outcome = test::analyze(text);
    if (!sample.error) {
      EXPECT_TRUE(outcome.good) << text << outcome.printed;
      continue;
    }
    ++errors;
    ASSERT_EQ(outcome.diagnostics.size(), 1u) << text;
    EXPECT_EQ(outcome.diagnostics[0].id, *sample.error) << text << outcome.printed;
  }
  EXPECT_GT(errors, 20u);
  EXPECT_LT(errors, 380u);
}

TEST(Evaluation, DivisionFloors) {
  for (int a = -9; a <= 9; ++a) {
    for (int b : {-4, -3, -1, 1, 3, 4}) {
      int quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
      std::string text = "param q: int = (" + std::to_string(a) + ") / (" + std::to_string(b) + ");\nparam r: int = (" +
                         std::to_string(a) + ") % (" + std::to_string(b) +
                         ");\nprogram p implements allreduce(ranks = 1, chunks = 1, inplace = true) { assert q == " +
                         std::to_string(quotient) + " && r == " + std::to_string(a - quotient * b) + "; }\n";
      test::Outcome outcome = test::analyze(text);
      EXPECT_TRUE(outcome.good) << text << outcome.printed;
    }
  }
}
