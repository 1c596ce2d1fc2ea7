// SPDX-License-Identifier: Apache-2.0
// Programs as the MSCCL runtimes cut them: they compute the same, and need no fewer slots than the whole ones.
#include "RandomProgram.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace gc3;

static ir::Program compile(const ir::ChunkDag &dag, bool fuse) {
  SourceManager sources;
  Diagnostics diags(sources);
  auto instructions = lower::lower(dag, {.fuse = fuse}, diags);
  return *schedule::schedule(*instructions, {.fifoSlots = 2, .wholeMessages = false}, diags);
}

static bool moves(const ir::Program &program, uint32_t count) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [&](const ir::Step &step) { return step.count >= count; });
}

TEST(MscclCut, computesTheSame) {
  std::mt19937_64 random(3);
  uint32_t cut = 0;
  for (uint32_t i = 0; i != 400; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = 1 + i % 6, .operations = 5 + i % 40});
    ir::Program whole = compile(dag, i % 2 == 0);
    ir::Program pieces = emit::cutIntoPieces(whole);
    cut += moves(whole, 2);
    EXPECT_FALSE(moves(pieces, 2));
    pieces.fifoSlots = 1u << 20;
    verify::Verdict verdict = verify::verify(pieces, {});
    ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message;
    EXPECT_GE(verdict.minSlots, verify::verify(whole, {}).minSlots);
    EXPECT_EQ(test::runInRandomOrder(pieces, verdict.minSlots, random), "");
  }
  EXPECT_GT(cut, 300u);
}

TEST(MscclCut, hasTheSlotsOfTheProtocol) {
  std::mt19937_64 random(4);
  ir::ChunkDag dag = test::randomProgram(random, {});
  auto info = std::make_shared<ir::ProgramInfo>(*dag.info);
  dag.info = info;
  for (auto [protocol, slots] :
       {std::pair(ir::Protocol::Simple, 2u), {ir::Protocol::LL, 8u}, {ir::Protocol::LL128, 8u}}) {
    info->protocol = protocol;
    EXPECT_EQ(emit::cutIntoPieces(compile(dag, true)).fifoSlots, slots);
  }
}
