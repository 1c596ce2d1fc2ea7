// SPDX-License-Identifier: Apache-2.0
// Compares Clocks, which share equal parts, with complete vectors.
#include "gc3/Support/Clocks.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace gc3;

namespace {

/// A clock and its expected contents.
struct Made {
  Clocks::Clock clock = Clocks::Nothing;
  std::vector<uint32_t> steps; // known finished steps, by thread block
};

} // namespace

/// Returns the entries that forEach() visits, as a complete vector.
static std::vector<uint32_t> entries(const Clocks &clocks, const Made &made) {
  std::vector<uint32_t> steps(made.steps.size());
  clocks.forEach(made.clock, [&](uint32_t block, uint32_t known) {
    EXPECT_EQ(steps[block], 0u) << "visited twice";
    EXPECT_NE(known, 0u) << "knows nothing";
    steps[block] = known;
  });
  return steps;
}

static std::vector<uint32_t> answers(const Clocks &clocks, const Made &made) {
  std::vector<uint32_t> steps;
  for (uint32_t block = 0; block != made.steps.size(); ++block)
    steps.push_back(clocks.known(made.clock, block));
  return steps;
}

/// Makes each clock from an earlier clock by up to `changes` changes. A change joins another clock, and sometimes adds
/// an entry. Checks all clocks at the end, because a finished clock must not change.
static void makeMany(uint32_t blocks, uint32_t changes) {
  std::mt19937 random(blocks * 16 + changes);
  auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  Clocks clocks(blocks);
  std::vector<Made> all(1, {Clocks::Nothing, std::vector<uint32_t>(blocks)});
  for (uint32_t round = 0; round != 400; ++round) {
    Made made = all[below(all.size())];
    clocks.start();
    for (uint32_t change = below(changes + 1); change-- != 0;) {
      const Made &other = all[below(all.size())];
      made.clock = clocks.join(made.clock, other.clock);
      for (uint32_t block = 0; block != blocks; ++block)
        made.steps[block] = std::max(made.steps[block], other.steps[block]);
      if (below(3) == 0)
        continue;
      uint32_t block = below(blocks);
      uint32_t steps = 1 + below(50);
      made.clock = clocks.with(made.clock, block, steps);
      made.steps[block] = std::max(made.steps[block], steps);
    }
    all.push_back(std::move(made));
  }
  for (const Made &made : all) {
    ASSERT_EQ(answers(clocks, made), made.steps) << blocks << " thread blocks, " << changes << " changes";
    ASSERT_EQ(entries(clocks, made), made.steps) << blocks << " thread blocks, " << changes << " changes";
  }
}

/// Runs random steps of a rank's thread blocks, each of which waits for random earlier steps. Compares the clock of
/// each step with a complete vector.
static void runSteps(uint32_t blocks, uint32_t mostWaits) {
  std::mt19937 random(blocks * 16 + mostWaits);
  auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  Clocks clocks(blocks);
  std::vector<std::vector<Made>> steps(blocks); // by thread block and step: the clock at the step's beginning
  std::vector<uint32_t> since(blocks);          // by thread block: the step at which its clock changed last
  for (uint32_t round = 0; round != 800; ++round) {
    uint32_t block = below(blocks);
    Made made = steps[block].empty() ? Made{Clocks::Nothing, std::vector<uint32_t>(blocks)} : steps[block].back();
    Clocks::Draft draft{made.clock, block, since[block]};
    clocks.start();
    for (uint32_t wait = below(mostWaits + 1); wait-- != 0;) {
      uint32_t other = below(blocks);
      if (other == block || steps[other].empty())
        continue;
      auto step = static_cast<uint32_t>(steps[other].size()) - 1 - below(std::min<size_t>(steps[other].size(), 3));
      clocks.join(draft, other, step, steps[other][step].clock);
      draft.clock = clocks.with(draft.clock, other, step + 1);
      for (uint32_t i = 0; i != blocks; ++i)
        made.steps[i] = std::max(made.steps[i], steps[other][step].steps[i]);
      made.steps[other] = std::max(made.steps[other], step + 1);
    }
    if (draft.clock != made.clock)
      since[block] = static_cast<uint32_t>(steps[block].size());
    made.clock = draft.clock;
    ASSERT_EQ(answers(clocks, made), made.steps) << blocks << " thread blocks, round " << round;
    steps[block].push_back(std::move(made));
  }
}

TEST(Clocks, OfStepsKnowWhatVectorsWould) {
  for (uint32_t blocks : {2, 4, 5, 17, 70})
    for (uint32_t mostWaits : {1, 2, 5})
      runSteps(blocks, mostWaits);
}

TEST(Clocks, knowWhatVectorsWould) {
  for (uint32_t blocks : {1, 2, 4, 5, 16, 17, 70})
    for (uint32_t changes : {1, 2, 5})
      makeMany(blocks, changes);
}
