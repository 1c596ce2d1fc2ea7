// SPDX-License-Identifier: Apache-2.0
// Compares the tuner's choice with a search over all assignments of candidates to sizes.
#include "Choice.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace gc3::tune;

namespace {

constexpr double Never = std::numeric_limits<double>::infinity();

/// The figures by which choices are compared.
struct Merit {
  double loss = 0;       ///< largest time / best time - 1
  uint32_t ranges = 0;   ///< of candidates
  double logarithms = 0; ///< sum of ln(time / best time)
};

/// Returns the merit of servers by size. The server `table.candidates` is the baseline.
Merit meritOf(const TimeTable &table, const std::vector<uint32_t> &servers) {
  Merit merit;
  for (uint32_t size = 0; size < table.sizes; ++size) {
    const bool isBaseline = servers[size] == table.candidates;
    const double time = table.at(isBaseline ? TimeTable::Baseline : servers[size], size);
    const double ratio = std::isinf(time) ? Never : time / table.best(size);
    merit.loss = std::max(merit.loss, ratio - 1);
    merit.logarithms += std::log(ratio);
    if (!isBaseline && (size == 0 || servers[size] != servers[size - 1]))
      ++merit.ranges;
  }
  return merit;
}

bool isLess(double left, double right) {
  return left < right - 1e-9;
}

bool isBetter(const Merit &left, const Merit &right, double within) {
  const double leftLoss = std::max(left.loss, within), rightLoss = std::max(right.loss, within);
  if (isLess(leftLoss, rightLoss) || isLess(rightLoss, leftLoss))
    return leftLoss < rightLoss;
  const bool isShorter = isLess(left.logarithms, right.logarithms);
  if (isLess(within, leftLoss)) // fewer ranges don't count
    return isShorter || (!isLess(right.logarithms, left.logarithms) && left.ranges < right.ranges);
  return left.ranges < right.ranges || (left.ranges == right.ranges && isShorter);
}

/// Tries all servers of all sizes. Returns the merit of the best choice; its loss is infinite if there is none.
Merit bestMerit(const TimeTable &table, uint32_t programs, double within) {
  const uint32_t servers = table.candidates + (table.baseline.empty() ? 0 : 1);
  Merit best{Never, 0, Never};
  std::vector<uint32_t> choice(table.sizes, 0);
  for (;;) {
    const Merit merit = meritOf(table, choice);
    if (merit.ranges <= programs && !std::isinf(merit.loss) && isBetter(merit, best, within))
      best = merit;
    uint32_t size = 0;
    while (size < table.sizes && ++choice[size] == servers)
      choice[size++] = 0;
    if (size == table.sizes)
      return best;
  }
}

/// Returns the server of each size, and checks that the ranges are adjacent, cover all sizes, and differ.
std::vector<uint32_t> serversOf(const TimeTable &table, const Choice &choice) {
  std::vector<uint32_t> servers;
  for (const Range &range : choice.ranges) {
    EXPECT_EQ(range.begin, servers.size());
    EXPECT_LT(range.begin, range.end);
    const uint32_t server = range.candidate == TimeTable::Baseline ? table.candidates : range.candidate;
    EXPECT_TRUE(servers.empty() || servers.back() != server);
    servers.resize(range.end, server);
  }
  EXPECT_EQ(servers.size(), table.sizes);
  return servers;
}

class Dice {
public:
  explicit Dice(uint32_t seed) : engine(seed) {}
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }
  /// Returns a time from few values, so that times are often equal, or no time.
  double time(uint32_t values, double step) { return below(12) == 0 ? Never : 1 + below(values) * step; }

private:
  std::mt19937 engine;
};

TimeTable randomTable(Dice &dice) {
  TimeTable table;
  table.sizes = 1 + dice.below(5), table.candidates = 1 + dice.below(3);
  const uint32_t values = 2 + dice.below(100);
  const double step = dice.below(2) == 0 ? 0.01 : 0.1;
  for (uint32_t i = 0; i < table.candidates * table.sizes; ++i)
    table.times.push_back(dice.time(values, step));
  if (dice.below(2) == 0)
    for (uint32_t size = 0; size < table.sizes; ++size)
      table.baseline.push_back(dice.time(values, step));
  return table;
}

TEST(ChoiceOfRanges, EqualsExhaustiveSearch) {
  constexpr double losses[] = {0, 0.02, 0.05, 1};
  uint32_t impossible = 0, within = 0, beyond = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const TimeTable table = randomTable(dice);
    const uint32_t programs = dice.below(4);
    const double permitted = losses[dice.below(4)];
    const Merit expected = bestMerit(table, programs, permitted);
    const Choice choice = choose(table, programs, permitted);
    if (std::isinf(expected.loss)) {
      ++impossible;
      ASSERT_TRUE(choice.ranges.empty() && std::isinf(choice.loss));
      continue;
    }
    const Merit merit = meritOf(table, serversOf(table, choice));
    ++(merit.loss <= permitted + 1e-9 ? within : beyond);
    ASSERT_DOUBLE_EQ(choice.loss, merit.loss);
    ASSERT_NEAR(std::max(merit.loss, permitted), std::max(expected.loss, permitted), 1e-8);
    ASSERT_EQ(merit.ranges, expected.ranges);
    ASSERT_NEAR(merit.logarithms, expected.logarithms, 1e-8);
  }
  EXPECT_GT(impossible, 200u);
  EXPECT_GT(within, 200u);
  EXPECT_GT(beyond, 200u);
}

TEST(ChoiceOfRanges, KeepsAProgramWithinTheLoss) {
  const TimeTable table{.sizes = 4, .candidates = 2, .times = {1, 1.01, 1, 3, 2, 1, 1.02, 1}, .baseline = {}};
  const Choice choice = choose(table, 4, 0.02);
  EXPECT_EQ(serversOf(table, choice), (std::vector<uint32_t>{0, 0, 0, 1}));
  EXPECT_NEAR(choice.loss, 0.01, 1e-12);
}

TEST(ChoiceOfRanges, UsesAllProgramsIfTheLossIsLarger) {
  const TimeTable table{.sizes = 3, .candidates = 3, .times = {1, 1, 2, 2, 2, 1, 1.5, 1.5, 1.5}, .baseline = {}};
  EXPECT_EQ(serversOf(table, choose(table, 2, 0)), (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(serversOf(table, choose(table, 1, 0)), (std::vector<uint32_t>{2, 2, 2}));
  EXPECT_NEAR(choose(table, 1, 0).loss, 0.5, 1e-12);
}

TEST(ChoiceOfRanges, LeavesSizesToTheBaseline) {
  const TimeTable table{.sizes = 3, .candidates = 1, .times = {1, 3, 1}, .baseline = {2.5, 1, 2}};
  EXPECT_EQ(serversOf(table, choose(table, 2, 0)), (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_EQ(serversOf(table, choose(table, 1, 0)), (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(serversOf(table, choose(table, 0, 0)), (std::vector<uint32_t>{1, 1, 1}));
}

} // namespace
