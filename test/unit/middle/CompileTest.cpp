// SPDX-License-Identifier: Apache-2.0
// Compiles random programs with Lower and Schedule, and checks them with Verify. An independent oracle also runs their
// GC3-IR in random orders.
#include "RandomProgram.h"
#include "gc3/IR/Print.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace gc3;
using gc3::test::text;

namespace {

class RandomPrograms : public testing::TestWithParam<uint32_t> {};

} // namespace

static std::optional<ir::Program> compile(const ir::ChunkDag &dag, bool fuse, uint32_t slots, std::string &errors) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {.fuse = fuse}, diags);
  std::optional<ir::Program> program;
  if (instructions)
    program = schedule::schedule(*instructions, {.fifoSlots = slots}, diags);
  llvm::raw_string_ostream out(errors);
  diags.print(out, false);
  return program;
}

static void checkProgram(const ir::ChunkDag &dag, bool fuse, uint32_t slots, uint64_t seed) {
  std::string errors;
  std::optional<ir::Program> program = compile(dag, fuse, slots, errors);
  ASSERT_TRUE(program) << errors << text(dag);
  verify::Verdict verdict = verify::verify(*program, {});
  ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message << '\n' << text(dag) << text(*program);
  EXPECT_LE(verdict.minSlots, slots);
  EXPECT_TRUE(verify::verify(*program, {.exact = true}).holds());
  std::mt19937_64 order(seed);
  for (int run = 0; run != 4; ++run) {
    std::string problem = test::runInRandomOrder(*program, verdict.minSlots, order);
    ASSERT_EQ(problem, "") << text(dag) << text(*program);
  }
}

TEST_P(RandomPrograms, compileVerifyAndRun) {
  std::mt19937_64 random(GetParam());
  for (uint32_t i = 0; i != 150; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = 1 + GetParam() % 6, .operations = 5 + i % 60});
    for (bool fuse : {true, false})
      for (uint32_t slots : {1u, 2u, 8u})
        ASSERT_NO_FATAL_FAILURE(checkProgram(dag, fuse, slots, random()));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(0u, 12u));

TEST(Compile, sameTextTwice) {
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i != 20; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {});
    std::string errors;
    EXPECT_EQ(text(*compile(dag, true, 8, errors)), text(*compile(dag, true, 8, errors)));
  }
}

// The oracle detects many missing waits, but not all. Some waits guard values that the output does not need, and
// messages imply some others.
TEST(Waits, missingOnesShow) {
  std::mt19937_64 random(11);
  uint32_t dropped = 0;
  uint32_t noticed = 0;
  for (uint32_t i = 0; i != 60; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = 4, .operations = 25, .directives = false});
    std::string errors;
    std::optional<ir::Program> program = compile(dag, true, 8, errors);
    ASSERT_TRUE(program) << errors;
    for (uint32_t step = 0; step != program->steps.size(); ++step) {
      if (program->steps[step].waitCount == 0)
        continue;
      ir::Program mutant = *program;
      --mutant.steps[step].waitCount; // drops the last wait
      ++dropped;
      bool wrong = false;
      for (int run = 0; run != 60 && !wrong; ++run)
        wrong = !test::runInRandomOrder(mutant, 8, random).empty();
      noticed += wrong;
    }
  }
  EXPECT_GT(dropped, 300u);
  EXPECT_GT(noticed * 4, dropped) << noticed << " of " << dropped;
}
