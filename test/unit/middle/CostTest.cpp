// SPDX-License-Identifier: Apache-2.0
// Compares the costs of random programs with their lower bounds, and with each other: all that ranks send arrives.
#include "gc3/Emit/Cost.h"
#include "RandomProgram.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include <gtest/gtest.h>

using namespace gc3;

static ir::Program compileRandom(const ir::ChunkDag &dag) {
  SourceManager sources;
  Diagnostics diags(sources);
  return *schedule::schedule(*lower::lower(dag, {}, diags), {}, diags);
}

static void checkCost(const emit::Cost &cost, bool promises) {
  ASSERT_EQ(cost.bounds.has_value(), promises);
  EXPECT_GE(cost.pathMessages, promises ? cost.bounds->messages : 0);
  EXPECT_GE(cost.slotsSent(), promises ? cost.bounds->slotsSent : 0);
  EXPECT_GE(cost.pathSteps, cost.pathMessages == 0 ? 0 : cost.pathMessages + 1);
  uint64_t slotsIn = 0, messagesOut = 0, messagesIn = 0;
  for (size_t rank = 0; rank != cost.ranks.size(); ++rank) {
    EXPECT_GE(cost.ranks[rank].slotsOut, promises ? cost.bounds->slotsOut[rank] : 0);
    EXPECT_GE(cost.ranks[rank].slotsIn, promises ? cost.bounds->slotsIn[rank] : 0);
    slotsIn += cost.ranks[rank].slotsIn;
    messagesOut += cost.ranks[rank].messagesOut;
    messagesIn += cost.ranks[rank].messagesIn;
  }
  EXPECT_EQ(slotsIn, cost.slotsSent());
  EXPECT_EQ(messagesOut, messagesIn);
}

TEST(Cost, isAtLeastItsBounds) {
  std::mt19937_64 random(7);
  uint64_t sent = 0, needed = 0;
  for (uint32_t i = 0; i != 4000; ++i) {
    const ir::Program program =
        compileRandom(test::randomProgram(random, {.maxRanks = 1 + i % 6, .operations = 1 + i % 30}));
    const emit::Cost cost = emit::costOf(program);
    checkCost(cost, program.info->collective.post.promises());
    ASSERT_FALSE(testing::Test::HasFailure()) << test::text(program);
    sent += cost.slotsSent();
    needed += cost.bounds ? cost.bounds->slotsSent : 0;
  }
  EXPECT_GT(needed * 10, sent) << "the bounds are too weak to show anything";
}

TEST(Cost, hasNoBoundsForTooManyContributions) {
  ir::Collective collective;
  collective.ranks = 1;
  collective.hasInput = collective.hasOutput = {1};
  collective.input = collective.output = {1, 1};
  collective.post = {{0, 1}, {{0, 0, 0, 0, 2}}, {0}, {0, 1}, {1}};
  EXPECT_TRUE(emit::costBounds(collective, 1));
  collective.post.runs[0].length = (1 << 26) + 1;
  EXPECT_FALSE(emit::costBounds(collective, 1));
}
