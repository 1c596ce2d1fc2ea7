// SPDX-License-Identifier: Apache-2.0
// Tests the selector and its parts with made-up times.
#include "select/Selector.h"
#include "CountAllocations.h"
#include "select/Logarithm.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace gc3::select;

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
constexpr float never = std::numeric_limits<float>::infinity();

/// A selector for one bucket whose times it gets at once.
struct Bench {
  explicit Bench(std::vector<float> predicted, double share = 0.02, std::vector<uint32_t> variantOf = {},
                 Timing ofCalls = Timing::Cheap)
      : timing(ofCalls), budget(share),
        selector(Arms{1, static_cast<uint32_t>(predicted.size()), predicted, {0}, variantOf}, budget),
        counts(predicted.size()) {}

  /// Makes calls whose times are `times`, with a noise of 5 %. Returns the time of all calls.
  double run(int calls, const std::vector<float> &times) {
    double sum = 0;
    for (int c = 0; c < calls; ++c) {
      const bool isRepeat = repeats != 0;
      const Selector::Choice choice = isRepeat ? Selector::Choice{selector.favourite(0), 0} : selector.choose(0);
      repeats = isRepeat ? repeats - 1 : choice.repeats;
      const float time = times[choice.arm] * std::exp(noise(random));
      if (!isRepeat)
        selector.add(0, choice.arm, time, timing);
      ++counts[choice.arm];
      sum += static_cast<double>(time);
    }
    return sum;
  }

  const Timing timing;
  std::mt19937 random{7};
  std::normal_distribution<float> noise{0, 0.05F};
  Budget budget;
  Selector selector;
  uint32_t repeats = 0;
  std::vector<int> counts; ///< calls by arm
};

} // namespace

TEST(Logarithm, IsCloseToTheLibrary) {
  for (float x = 1e-30F; x < 1e30F; x *= 1.37F) {
    EXPECT_NEAR(logarithm(x), std::log(x), 1e-5) << x;
    EXPECT_NEAR(exponential(logarithm(x)) / x, 1, 1e-5) << x;
  }
  for (double x : {0.0, 1e-18, 1e-9, 0.1, 0.3999, 0.4, 1.0, 1e9, 1e300})
    EXPECT_NEAR(logarithmOf1Plus(x), std::log1p(x), 1e-8 * std::log1p(x)) << x;
  for (double x : {-600.0, -1.0, 0.0, 0.2, 1.0, 50.0, 690.0})
    EXPECT_NEAR(preciseExponential(x) / std::exp(x), 1, 1e-8) << x;
  EXPECT_EQ(preciseExponential(1000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(preciseExponential(-1000), 0);
  EXPECT_EQ(logarithm(1), 0);
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(logarithm(never), never);
  EXPECT_TRUE(std::isnan(logarithm(unknown)));
  EXPECT_EQ(exponential(1000), never);
  EXPECT_EQ(exponential(-1000), 0);
}

TEST(Estimate, IgnoresSpikesAndFollowsChanges) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(estimate.add(static_cast<float>(i % 3) * 0.01F, 0.02F, 3), Estimate::Verdict::Near);
  EXPECT_EQ(estimate.count(), Estimate::most);
  EXPECT_FLOAT_EQ(estimate.median(), 0.01F);
  EXPECT_NEAR(estimate.spread(), 0.0148F, 1e-4);
  EXPECT_EQ(estimate.add(2, 0.02F, 3), Estimate::Verdict::Far);
  EXPECT_EQ(estimate.add(2, 0.02F, 3), Estimate::Verdict::Far);
  EXPECT_EQ(estimate.add(0, 0.02F, 3), Estimate::Verdict::Near); // a spike
  EXPECT_FLOAT_EQ(estimate.median(), 0.01F);
  EXPECT_EQ(estimate.add(2, 0.02F, 3), Estimate::Verdict::Far);
  EXPECT_EQ(estimate.add(-2, 0.02F, 3), Estimate::Verdict::Far); // on the other side
  EXPECT_EQ(estimate.add(-2, 0.02F, 3), Estimate::Verdict::Far);
  EXPECT_EQ(estimate.add(-2.1F, 0.02F, 3), Estimate::Verdict::Changed);
  EXPECT_EQ(estimate.count(), 3);
  EXPECT_FLOAT_EQ(estimate.median(), -2);
}

TEST(Estimate, AgreesWithSortedSamples) {
  std::mt19937 random(1);
  Estimate estimate;
  std::vector<float> all;
  for (int i = 0; i < 500; ++i) {
    all.push_back(static_cast<float>(random() % 100));
    estimate.add(all.back(), 1000, UINT32_MAX);
    std::vector<float> last(all.end() - std::min<std::ptrdiff_t>(i + 1, Estimate::most), all.end());
    std::sort(last.begin(), last.end());
    const float median = last[(last.size() - 1) / 2];
    for (float &each : last)
      each = std::fabs(each - median);
    std::sort(last.begin(), last.end());
    EXPECT_EQ(estimate.median(), median);
    EXPECT_FLOAT_EQ(estimate.spread(), 1.4826F * last[(last.size() - 1) / 2]);
  }
}

TEST(Selector, AllocatesNothingAfterItsConstruction) {
  Bench bench(std::vector<float>(40, 100));
  const std::vector<float> times(40, 120);
  const uint64_t before = countAllocations();
  bench.run(1000, times);
  EXPECT_EQ(countAllocations(), before);
  EXPECT_GT(*std::min_element(bench.counts.begin(), bench.counts.end()), 0);
}

TEST(Selector, BeginsWithTheFixedArm) {
  Budget budget(0.02);
  Selector selector({1, 3, {9, 7, 8}, {2}}, budget);
  EXPECT_EQ(selector.favourite(0), 2);
  EXPECT_EQ(selector.choose(0).arm, 2);
}

TEST(Selector, TrustsGoodPredictions) {
  Bench bench({100, 150, 300, 900});
  bench.run(500, {110, 165, 330, 990});
  EXPECT_GE(bench.counts[0], 480);
  EXPECT_EQ(bench.counts[2] + bench.counts[3], 0); // far apart
}

TEST(Selector, FindsTheBestArmOfBadPredictions) {
  Bench bench({100, 120, 300, 310});
  bench.run(150, {300, 400, 100, 900});
  bench.counts.assign(4, 0);
  bench.run(500, {300, 400, 100, 900});
  EXPECT_EQ(bench.selector.favourite(0), 2);
  EXPECT_GE(bench.counts[2], 490);
}

TEST(Selector, TriesArmsWithoutPredictions) {
  Bench bench({unknown, unknown, unknown});
  bench.run(50, {300, 200, 100});
  EXPECT_EQ(bench.selector.favourite(0), 2);
}

TEST(Selector, NeverChoosesArmsThatCannotRun) {
  Bench bench({100, never, 101});
  bench.run(500, {100, 1, 100});
  EXPECT_EQ(bench.counts[1], 0);
}

TEST(Selector, LeavesAnArmThatBecomesSlow) {
  Bench bench({100, 110, 120});
  bench.run(300, {100, 150, 160});
  EXPECT_EQ(bench.selector.favourite(0), 0);
  bench.run(20, {300, 150, 160});
  EXPECT_EQ(bench.selector.favourite(0), 1);
}

TEST(Selector, DoesNotLeaveAnArmAfterASpike) {
  Bench bench({100, 150});
  bench.run(100, {100, 150});
  for (int i = 0; i < 2; ++i) {
    const Selector::Choice choice = bench.selector.choose(0);
    bench.selector.add(0, choice.arm, 900);
  }
  EXPECT_EQ(bench.selector.favourite(0), 0);
}

TEST(Selector, ExplorationKeepsToTheBudget) {
  for (const double share : {0.01, 0.02, 0.1}) {
    Bench bench({100, 100, 100, 100}, share);
    bench.run(50, {100, 103, 106, 109});
    const double before = bench.budget.timeOfExploration();
    EXPECT_EQ(before, 0); // the first calls are free
    bench.run(3000, {100, 103, 106, 109});
    EXPECT_LE(bench.budget.timeOfExploration(), share * bench.budget.timeOfCalls());
  }
}

TEST(Selector, IsFrozenWithoutABudget) {
  Bench bench({100, 100}, 0);
  bench.run(500, {300, 100});
  EXPECT_EQ(bench.counts[0], 500);
}

TEST(Selector, TimesFewOfTheShortCalls) {
  Bench shortest({0.1F, 0.2F}), shortOnes({1, 2}), longOnes({100, 200});
  shortOnes.run(60, {1, 2});
  EXPECT_EQ(shortOnes.selector.choose(0).repeats, 8);
  shortOnes.run(5000, {1, 2});
  EXPECT_NEAR(shortOnes.selector.choose(0).repeats, 80, 8);
  shortest.run(5000, {0.1F, 0.2F});
  EXPECT_EQ(shortest.selector.choose(0).repeats, 255);
  longOnes.run(5000, {100, 200});
  EXPECT_EQ(longOnes.selector.choose(0).repeats, 0);
  Bench rare({100, 200}, 0.02, {}, Timing::Costly);
  rare.run(5000, {100, 200});
  EXPECT_NEAR(rare.selector.choose(0).repeats, 6, 1);
}

TEST(Selector, LearnsFromNearBuckets) {
  Budget budget(0.02);
  Selector selector({3, 3, {100, 110, 120, 200, 220, 240, 400, 440, 480}, {0, 0, 0}}, budget);
  for (int c = 0; c < 50; ++c) { // in the middle bucket, arm 2 is the fastest one
    const uint32_t arm = selector.choose(1).arm;
    selector.add(1, arm, arm == 2 ? 100 : 300);
  }
  uint32_t slow = 0;
  for (int c = 0; c < 10; ++c) {
    const uint32_t arm = selector.choose(2).arm;
    selector.add(2, arm, arm == 2 ? 200 : 600);
    slow += arm != 2;
  }
  EXPECT_LE(slow, 1); // the fixed arm of the first call
}

TEST(Selector, UsesWhatAnEarlierJobHasLearned) {
  Budget budget(0.02);
  Selector selector({1, 2, {100, 100}, {0}}, budget);
  selector.learn(0, 0, {40, 300, 0.02F});
  selector.learn(0, 1, {40, 100, 0.02F});
  selector.learn(0, 1, {40, unknown, 0.02F}); // ignored
  EXPECT_EQ(selector.favourite(0), 1);
  EXPECT_EQ(selector.choose(0).arm, 1);
  selector.add(0, 1, 100);
  const Selector::Experience experience = selector.experience(0, 1);
  EXPECT_EQ(experience.calls, 41);
  EXPECT_NEAR(experience.median, 100, 0.1);
  EXPECT_NEAR(experience.spread, 0.02, 0.01);
  EXPECT_EQ(selector.experience(0, 0).calls, 40);
}

TEST(Selector, ExperienceCountsRepeatsAndNeedsATime) {
  Budget budget(0.02);
  Selector selector({1, 2, {1, 100}, {0}}, budget);
  EXPECT_EQ(selector.experience(0, 0).median, 0);
  uint64_t calls = 0;
  for (int c = 0; c < 100; ++c) {
    const Selector::Choice choice = selector.choose(0);
    calls += 1 + choice.repeats;
    selector.add(0, choice.arm, choice.arm == 0 ? 1 : 100);
  }
  EXPECT_GT(calls, 1000);
  EXPECT_EQ(selector.experience(0, 0).calls + selector.experience(0, 1).calls, calls);
}

TEST(Selector, FrozenChoicesAreThoseThatWereLearned) {
  Budget budget(0);
  Selector selector({1, 2, {100, 100}, {0}}, budget);
  selector.learn(0, 0, {40, 300, 0});
  selector.learn(0, 1, {40, 100, 0});
  for (int c = 0; c < 100; ++c) {
    EXPECT_EQ(selector.choose(0).arm, 1);
    selector.add(0, 1, 900);
  }
  EXPECT_EQ(selector.favourite(0), 1);
}

/// The budget does not limit the first calls of a bucket. They are the first ones of all jobs.
TEST(Selector, CallsOfEarlierJobsCountAsFirstCalls) {
  const auto exploredInAll = [](uint64_t callsOfFirst) {
    Budget budget(0.02);
    Selector selector({1, 3, {100, 125, 125}, {0}}, budget);
    selector.learn(0, 0, {callsOfFirst, 100, 0.02F});
    uint32_t explored = 0;
    for (int c = 0; c < 10; ++c) {
      const uint32_t arm = selector.choose(0).arm;
      explored += arm != 0;
      selector.add(0, arm, arm == 0 ? 100 : 200);
    }
    return explored;
  };
  EXPECT_GT(exploredInAll(10), 0);
  EXPECT_EQ(exploredInAll(1000), 0);
}

TEST(Selector, TheDigestShowsWhatWasLearned) {
  Budget one(0.02), two(0.02);
  Selector first({1, 2, {100, 100}, {0}}, one), second({1, 2, {100, 100}, {0}}, two);
  first.learn(0, 1, {40, 100, 0.02F});
  EXPECT_NE(first.digest(), second.digest());
  second.learn(0, 1, {40, 100, 0.02F});
  EXPECT_EQ(first.digest(), second.digest());
}

TEST(Selector, TriesVariantsOfFastArmsOnly) {
  Bench bench({100, 100, 100, 100, never}, 0.02, {0, 1, 0, 1, 0});
  bench.run(300, {100, 300, 85, 10, 1});
  EXPECT_EQ(bench.selector.favourite(0), 2);
  EXPECT_EQ(bench.counts[3], 0) << "its arm is slow";
  EXPECT_EQ(bench.counts[4], 0) << "it can't run";
}

/// Without times of arms, there are no calls of their variants.
TEST(Selector, VariantsAwaitTheTimesOfTheirArms) {
  Budget budget(0.02);
  Selector selector({1, 4, {100, 100, 100, 100}, {0}, {0, 1, 0, 1}}, budget);
  std::vector<int> counts(4);
  for (int c = 0; c < 40; ++c)
    ++counts[selector.choose(0).arm];
  EXPECT_GT(counts[1], 0);
  EXPECT_EQ(counts[2] + counts[3], 0);
  selector.add(0, 0, 100);
  for (int c = 0; c < 10; ++c)
    ++counts[selector.choose(0).arm];
  EXPECT_GT(counts[2], 0);
  EXPECT_EQ(counts[3], 0);
}

/// In one bucket, the first variant takes 0.7 times as long as its arm, and the second one 1.4 times. The next bucket
/// has another prediction that is wrong.
TEST(Selector, VariantsDifferAlikeInNearBuckets) {
  const float ratios[] = {1, 0.7F, 1.4F};
  Budget budget(0.02);
  Selector selector({2, 3, {100, 100, 100, 100, 100, 100}, {0, 0}, {0, 0, 0}}, budget);
  std::vector<int> counts;
  for (const uint32_t bucket : {0U, 1U}) {
    counts.assign(3, 0);
    for (int c = 0; c < 40; ++c) {
      const uint32_t arm = selector.choose(bucket).arm;
      selector.add(bucket, arm, (bucket == 0 ? 100.0F : 500.0F) * ratios[arm]);
      ++counts[arm];
    }
    EXPECT_EQ(selector.favourite(bucket), 1);
  }
  EXPECT_EQ(counts[2], 0);
  EXPECT_LE(counts[0], 2);
}

TEST(Selector, MissingTimesChangeNothing) {
  Budget budget(0.02);
  Selector selector({1, 2, {100, 90}, {0}}, budget);
  for (int c = 0; c < 100; ++c) {
    const Selector::Choice choice = selector.choose(0);
    selector.add(0, choice.arm, c % 2 == 0 ? unknown : -1);
  }
  EXPECT_EQ(selector.favourite(0), 0);
}

TEST(Selector, TheDigestShowsEachDifference) {
  Budget one(0.02), two(0.02);
  Selector first({2, 2, {1, 2, 3, 4}, {0, 0}}, one), second({2, 2, {1, 2, 3, 4}, {0, 0}}, two);
  EXPECT_EQ(first.digest(), second.digest());
  first.choose(0), second.choose(0);
  first.add(0, 0, 5), second.add(0, 0, 5);
  EXPECT_EQ(first.digest(), second.digest());
  first.add(0, 0, 5), second.add(0, 0, 5.000001F);
  EXPECT_NE(first.digest(), second.digest());
}

/// A call of one context turns out to belong to another one.
TEST(Selector, ACallMovesToAnotherSelector) {
  Budget budget(0.02);
  const Arms arms{1, 2, {10, 20}, {0}};
  Selector chooser(arms, budget), owner(arms, budget);
  const uint32_t arm = chooser.choose(0).arm;
  EXPECT_EQ(chooser.experience(0, arm).calls, 1U);
  owner.adopt(chooser, 0, arm, 12);
  EXPECT_EQ(chooser.experience(0, arm).calls, 0U);
  EXPECT_EQ(chooser.experience(0, arm).median, 0);
  EXPECT_EQ(owner.experience(0, arm).calls, 1U);
  EXPECT_NEAR(owner.experience(0, arm).median, 12, 1e-4);
  EXPECT_EQ(budget.timeOfCalls(), 12);
  chooser.choose(0);
  owner.adopt(chooser, 0, arm, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(owner.experience(0, arm).calls, 2U);
  EXPECT_NE(owner.digest(), chooser.digest());
}
