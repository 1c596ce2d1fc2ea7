// SPDX-License-Identifier: Apache-2.0
// Removes waits from random programs. Compares the races that Verify then finds with those of the transitive closure.
#include "AllPairs.h"
#include "RandomProgram.h"
#include "RandomShape.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::ir;

static std::optional<Program> compile(const ChunkDag &dag, bool fuse) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {.fuse = fuse}, diags);
  return instructions ? schedule::schedule(*instructions, {}, diags) : std::nullopt;
}

/// Removes the last wait of one in `oneIn` steps that have waits.
static void dropWaits(Program &program, std::mt19937_64 &random, uint32_t oneIn) {
  for (Step &step : program.steps)
    if (step.waitCount != 0 && random() % oneIn == 0)
      step.waitCount -= 1;
}

/// Returns the places of a finding in the format of AllPairs::races.
static std::vector<uint32_t> placesOf(const verify::Finding &finding) {
  std::vector<uint32_t> result;
  unsigned rank = 0;
  for (const auto &note : finding.notes) {
    unsigned block = 0, step = 0;
    EXPECT_EQ(std::sscanf(note.message.c_str(), "rank %u tb %u step %u", &rank, &block, &step), 3) << note.message;
    result.insert(result.end(), {block, step});
  }
  if (result[0] > result[2])
    result = {result[2], result[3], result[0], result[1]};
  result.insert(result.begin(), rank);
  return result;
}

/// Checks that every race that Verify reports is a race, and that Verify reports one if there is any. Returns true if
/// the program has a race.
static bool compare(const Program &program) {
  verify::Verdict verdict = verify::verify(program, {});
  std::set<std::vector<uint32_t>> races = test::AllPairs(program).races();
  EXPECT_EQ(bool(verdict.proven & verify::NoRaces), races.empty()) << test::text(program);
  for (const verify::Finding &finding : verdict.findings) {
    bool named = finding.kind != verify::Finding::Race || races.count(placesOf(finding)) != 0;
    EXPECT_TRUE(named) << finding.message << '\n' << test::text(program);
  }
  return !races.empty();
}

/// Makes a program of one rank in which many thread blocks read one slot in four rounds. Waits order all reads, except
/// those of the last round. Another thread block then writes the slot. It waits for most of the readers, but not always
/// for all.
static Program readersThenWriter(std::mt19937_64 &random) {
  constexpr uint32_t readers = 12;
  constexpr uint32_t stepsOfBlock = 4;
  Program program = test::randomShape(random, {.ranks = 1, .blocks = 1, .events = 1});
  program.bufferSizes[OutputBuffer] = std::max(program.bufferSizes[OutputBuffer], readers);
  program.threadBlocks.clear();
  program.steps.clear();
  program.waits.clear();
  auto addCopy = [&](uint32_t source, BufferId to, uint32_t target) {
    program.steps.push_back(
        {Opcode::Copy, InputBuffer, to, source, target, 1, static_cast<uint32_t>(program.waits.size())});
  };
  auto addWait = [&](uint32_t block, uint32_t step) {
    program.waits.push_back({block, step});
    ++program.steps.back().waitCount;
  };
  for (uint32_t block = 0; block != readers; ++block) {
    program.threadBlocks.push_back({0, 0, -1, -1, block * stepsOfBlock, stepsOfBlock});
    for (uint32_t step = 0; step != stepsOfBlock; ++step) {
      addCopy(0, OutputBuffer, block);
      if (block != 0 || step != 0)
        addWait(block == 0 ? readers - 1 : block - 1, step - (block == 0 || step == stepsOfBlock - 1));
    }
  }
  program.threadBlocks.push_back({0, 0, -1, -1, readers * stepsOfBlock, 1});
  addCopy(1, InputBuffer, 0);
  for (uint32_t block = 0; block != readers; ++block)
    if (random() % 24 != 0)
      addWait(block, stepsOfBlock - 1 - (random() % 24 == 0));
  program.rankBegin = {0, readers + 1};
  return program;
}

TEST(Races, areThoseOfTheClosedRelation) {
  uint32_t racy = 0;
  uint32_t clean = 0;
  for (uint32_t seed = 0; seed != 400; ++seed) {
    std::mt19937_64 random(seed);
    ChunkDag dag = test::randomProgram(random, {.maxRanks = 1 + seed % 4, .operations = 4 + seed % 24});
    for (bool fuse : {true, false}) {
      std::optional<Program> program = compile(dag, fuse);
      ASSERT_TRUE(program);
      ASSERT_FALSE(compare(*program)) << "the scheduler forgot a wait\n" << test::text(*program);
      for (uint32_t mutant = 0; mutant != 4; ++mutant) {
        Program changed = *program;
        dropWaits(changed, random, 1 + mutant * 2);
        if (mutant == 3) { // LL messages order only their own data
          auto info = std::make_shared<ProgramInfo>(*program->info);
          info->protocol = Protocol::LL;
          changed.info = info;
        }
        ++(compare(changed) ? racy : clean);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  EXPECT_GT(racy, 500u);
  EXPECT_GT(clean, 500u);
}

TEST(Races, ofShapesAreThoseOfTheClosedRelation) {
  std::mt19937_64 random(1);
  uint32_t racy = 0;
  uint32_t clean = 0;
  for (uint32_t i = 0; i != 3000; ++i) {
    Program program = test::randomShape(
        random, {.ranks = 2 + i % 4, .blocks = 1 + i % 5, .events = 4 + i % 6, .waitsOneIn = 1 + i % 3});
    ++(compare(program) ? racy : clean);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(racy, 500u);
  EXPECT_GT(clean, 500u);
}

// Many thread blocks read one slot, in more steps than Verify checks one by one.
TEST(Races, ofManyReadersAreThoseOfTheClosedRelation) {
  std::mt19937_64 random(2);
  uint32_t racy = 0;
  uint32_t clean = 0;
  for (uint32_t i = 0; i != 300; ++i) {
    Program program = readersThenWriter(random);
    ++(compare(program) ? racy : clean);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(racy, 50u);
  EXPECT_GT(clean, 50u);
}
