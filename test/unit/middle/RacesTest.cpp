// SPDX-License-Identifier: Apache-2.0
// Races of random programs that lost waits, against what happens before what worked out by closing the relation.
#include "RandomProgram.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include <gtest/gtest.h>
#include <set>

using namespace gc3;
using namespace gc3::ir;

namespace {

/// All pairs of steps that race, by going through all pairs: cubic in steps.
class AllPairs {
public:
  explicit AllPairs(const Program &program) : program(program), before(program.steps.size()) {
    for (auto &row : before)
      row.resize(program.steps.size());
    addThreadBlocks();
    if (program.info->protocol == Protocol::Simple)
      addMessages();
    close();
  }

  /// `rank block step block step`, thread blocks within the rank and in their order.
  std::set<std::vector<uint32_t>> races() const {
    std::set<std::vector<uint32_t>> result;
    for (uint32_t a = 0; a != program.threadBlocks.size(); ++a)
      for (uint32_t b = a + 1; b != program.threadBlocks.size(); ++b)
        for (uint32_t i = 0; i != program.threadBlocks[a].stepCount; ++i)
          for (uint32_t j = 0; j != program.threadBlocks[b].stepCount; ++j)
            if (program.threadBlocks[a].rank == program.threadBlocks[b].rank && race(number(a, i), number(b, j)))
              result.insert({program.threadBlocks[a].rank, a - first(a), i, b - first(b), j});
    return result;
  }

private:
  uint32_t first(uint32_t block) const { return program.rankBegin[program.threadBlocks[block].rank]; }
  uint32_t number(uint32_t block, uint32_t step) const { return program.threadBlocks[block].firstStep + step; }

  void addThreadBlocks() {
    for (uint32_t block = 0; block != program.threadBlocks.size(); ++block)
      for (uint32_t i = 0; i != program.threadBlocks[block].stepCount; ++i) {
        uint32_t step = number(block, i);
        if (i != 0)
          before[step - 1][step] = true;
        for (uint32_t w = 0; w != program.steps[step].waitCount; ++w) {
          const Wait &wait = program.waits[program.steps[step].waitBegin + w];
          before[number(first(block) + wait.threadBlock, wait.step)][step] = true;
        }
      }
  }

  void addMessages() {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> sent;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> received;
    for (const ThreadBlock &block : program.threadBlocks)
      for (uint32_t step = block.firstStep; step != block.firstStep + block.stepCount; ++step) {
        if (sends(program.steps[step].opcode))
          sent[{block.rank, block.sendPeer, block.channel}].push_back(step);
        if (receives(program.steps[step].opcode))
          received[{block.recvPeer, block.rank, block.channel}].push_back(step);
      }
    for (const auto &[connection, steps] : sent)
      for (size_t i = 0; i != steps.size(); ++i)
        before[steps[i]][received[connection][i]] = true;
  }

  void close() {
    for (size_t middle = 0; middle != before.size(); ++middle)
      for (auto &row : before)
        if (row[middle])
          for (size_t to = 0; to != before.size(); ++to)
            row[to] = row[to] || before[middle][to];
  }

  static bool meet(BufferId a, uint32_t aIndex, uint32_t aCount, BufferId b, uint32_t bIndex, uint32_t bCount) {
    return a == b && aIndex < bIndex + bCount && bIndex < aIndex + aCount;
  }
  static bool writesWhatOtherUses(const Step &a, const Step &b) {
    return writesDst(a.opcode) &&
           ((writesDst(b.opcode) && meet(a.dstBuffer, a.dstIndex, a.count, b.dstBuffer, b.dstIndex, b.count)) ||
            (readsSrc(b.opcode) && meet(a.dstBuffer, a.dstIndex, a.count, b.srcBuffer, b.srcIndex, b.count)));
  }
  bool race(uint32_t i, uint32_t j) const {
    const Step &a = program.steps[i];
    const Step &b = program.steps[j];
    return (writesWhatOtherUses(a, b) || writesWhatOtherUses(b, a)) && !before[i][j] && !before[j][i];
  }

  const Program &program;
  std::vector<std::vector<bool>> before; // [a][b]: a is over before b begins
};

} // namespace

static std::optional<Program> compile(const ChunkDag &dag, bool fuse) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {.fuse = fuse}, diags);
  return instructions ? schedule::schedule(*instructions, {}, diags) : std::nullopt;
}

/// Takes some waits away, so that they are steps without.
static void dropWaits(Program &program, std::mt19937_64 &random, uint32_t oneIn) {
  for (Step &step : program.steps)
    if (step.waitCount != 0 && random() % oneIn == 0)
      step.waitCount -= 1;
}

/// The places of a finding, as AllPairs::races has them.
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

/// What Verify names is a race, and it names one if there is any. Returns whether there is.
static bool compare(const Program &program) {
  verify::Verdict verdict = verify::verify(program, {});
  std::set<std::vector<uint32_t>> races = AllPairs(program).races();
  EXPECT_EQ(bool(verdict.proven & verify::NoRaces), races.empty()) << test::text(program);
  for (const verify::Finding &finding : verdict.findings) {
    bool named = finding.kind != verify::Finding::Race || races.count(placesOf(finding)) != 0;
    EXPECT_TRUE(named) << finding.message << '\n' << test::text(program);
  }
  return !races.empty();
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
        if (mutant == 3) { // messages order nothing any more
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
