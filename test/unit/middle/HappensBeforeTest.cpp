// SPDX-License-Identifier: Apache-2.0
// Compares the results of HappensBefore for all pairs of steps with the transitive closure.
#include "HappensBefore.h"
#include "AllPairs.h"
#include "Execution.h"
#include "RandomProgram.h"
#include "RandomShape.h"
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::verify;

namespace {

/// Numbers of pairs of steps that belong to one rank and different thread blocks.
struct Counts {
  uint64_t ordered = 0;
  uint64_t unordered = 0;
};

} // namespace

static void askAll(const Program &program, Counts &counts) {
  std::vector<Finding> findings;
  Connections connections = checkStructure(program, {}, findings);
  ASSERT_TRUE(findings.empty()) << findings.front().message << '\n' << test::text(program);
  Execution execution(program, connections, program.fifoSlots);
  ASSERT_TRUE(execution.run()) << test::text(program);
  HappensBefore happensBefore(program, connections, RankOrders(program, execution.takeOrder()), ~uint64_t(0));
  test::AllPairs allPairs(program);
  auto check = [&](StepOfBlock a, StepOfBlock b) {
    bool before = allPairs.isBefore(a.block, a.step, b.block, b.step);
    ++(before ? counts.ordered : counts.unordered);
    ASSERT_EQ(happensBefore.order(a, b), before ? HappensBefore::Ordered : HappensBefore::Unordered)
        << describe(program, a.block, a.step) << ", then " << describe(program, b.block, b.step) << '\n'
        << test::text(program);
  };
  const std::vector<ThreadBlock> &blocks = program.threadBlocks;
  for (uint32_t a = 0; a != blocks.size(); ++a)
    for (uint32_t b = program.rankBegin[blocks[a].rank]; b != program.rankBegin[blocks[a].rank + 1]; ++b)
      for (uint32_t i = 0; a != b && i != blocks[a].stepCount; ++i)
        for (uint32_t j = 0; j != blocks[b].stepCount; ++j)
          ASSERT_NO_FATAL_FAILURE(check({a, i}, {b, j}));
}

static void askAboutShapes(const test::ShapeOptions &options, uint32_t programs, Counts &counts,
                           Protocol protocol = Protocol::Simple) {
  std::mt19937_64 random(programs);
  for (uint32_t i = 0; i != programs; ++i) {
    Program program = test::randomShape(random, options);
    auto info = std::make_shared<ProgramInfo>(*program.info);
    info->protocol = protocol;
    program.info = info;
    ASSERT_NO_FATAL_FAILURE(askAll(program, counts));
  }
}

TEST(HappensBefore, manyThreadBlocksOnFewRanks) {
  Counts counts;
  askAboutShapes({.ranks = 2, .blocks = 9, .channels = 3, .events = 40}, 150, counts);
  EXPECT_GT(counts.ordered, 10000u);
  EXPECT_GT(counts.unordered, 20000u);
}

// Messages have many hops, so they return to ranks and thread blocks that have forwarded them before.
TEST(HappensBefore, longChains) {
  Counts counts;
  askAboutShapes({.ranks = 4, .blocks = 3, .channels = 1, .events = 14, .mostHops = 14, .waitsOneIn = 4}, 200, counts);
  EXPECT_GT(counts.ordered, 10000u);
  EXPECT_GT(counts.unordered, 10000u);
}

// Steps have few waits, so most order comes from messages over several ranks.
TEST(HappensBefore, fewWaits) {
  Counts counts;
  askAboutShapes({.ranks = 4, .blocks = 4, .channels = 2, .events = 40, .mostHops = 3, .waitsOneIn = 20}, 150, counts);
  EXPECT_GT(counts.ordered, 10000u);
  EXPECT_GT(counts.unordered, 10000u);
}

TEST(HappensBefore, mostlyWaits) {
  Counts counts;
  askAboutShapes({.ranks = 2, .blocks = 6, .channels = 2, .events = 40, .mostHops = 2, .waitsOneIn = 1}, 150, counts);
  EXPECT_GT(counts.ordered, 20000u);
  EXPECT_GT(counts.unordered, 20000u);
}

TEST(HappensBefore, waitsOnlyUnderLL) {
  Counts counts;
  askAboutShapes({.ranks = 3, .blocks = 4, .events = 30}, 100, counts, Protocol::LL);
  EXPECT_GT(counts.ordered, 1000u);
  EXPECT_GT(counts.unordered, 10000u);
}

TEST(HappensBefore, manySmallShapes) {
  Counts counts;
  for (uint32_t ranks = 2; ranks != 6; ++ranks)
    for (uint32_t blocks = 1; blocks != 5; ++blocks)
      for (uint32_t channels = 1; channels != 4; ++channels)
        askAboutShapes({.ranks = ranks, .blocks = blocks, .channels = channels, .events = 8 + ranks, .mostHops = 9}, 40,
                       counts);
  EXPECT_GT(counts.ordered, 20000u);
  EXPECT_GT(counts.unordered, 20000u);
}
