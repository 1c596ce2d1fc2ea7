// SPDX-License-Identifier: Apache-2.0
// Tests programs whose messages are cut, as the MSCCL runtimes do. The cut program gives the same results and needs at
// least as many slots. A program that is lowered to messages of one slot never deadlocks.
#include "RandomProgram.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/IR/Read.h"
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
  uint32_t cutPrograms = 0;
  for (uint32_t i = 0; i != 400; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = 1 + i % 6, .operations = 5 + i % 40});
    ir::Program whole = compile(dag, i % 2 == 0);
    ir::Program cut = emit::cutIntoSlots(whole);
    cutPrograms += moves(whole, 2);
    EXPECT_FALSE(moves(cut, 2));
    cut.fifoSlots = 1u << 16;
    verify::Verdict verdict = verify::verify(cut, {});
    ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message;
    EXPECT_GE(verdict.minSlots, verify::verify(whole, {}).minSlots);
    EXPECT_EQ(test::runInRandomOrder(cut, verdict.minSlots, random), "");
  }
  EXPECT_GT(cutPrograms, 300u);
}

static bool deadlocks(const ir::Program &program) {
  std::vector<verify::Finding> findings = verify::verify(program, {}).findings;
  return !findings.empty() && findings.front().kind == verify::Finding::Deadlock;
}

TEST(MscclCut, messagesOfOneSlotAlwaysEnd) {
  std::mt19937_64 random(5);
  uint32_t mended = 0;
  for (uint32_t i = 0; i != 400; ++i) {
    ir::ChunkDag chunks = test::randomProgram(random, {.maxRanks = 2 + i % 5, .operations = 10 + i % 60});
    SourceManager sources;
    Diagnostics diags(sources);
    auto whole = lower::lower(chunks, {}, diags);
    mended += deadlocks(emit::cutIntoSlots(*schedule::schedule(*whole, {.fifoSlots = 2}, diags)));
    ir::InstructionDag cut = lower::cutMessages(*whole);
    uint32_t slots = 1 + i % 2;
    ir::Program program = *schedule::schedule(cut, {.fifoSlots = slots}, diags);
    for (const ir::Step &step : program.steps)
      EXPECT_TRUE(step.count == 1 || !(sends(step.opcode) || receives(step.opcode)));
    verify::Verdict verdict = verify::verify(program, {.exact = true});
    ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message << test::text(chunks);
    ASSERT_EQ(test::runInRandomOrder(program, slots, random), "") << test::text(chunks);
  }
  EXPECT_GT(mended, 10u);
}

// After the cut, dependencies hold between halves of messages. The first half of the last message overwrites input[1],
// which only the second half of the first message reads. Local instructions are not cut, and wait for all messages that
// they read.
TEST(MscclCut, piecesKeepChainsAndDependencies) {
  const char *text = R"(instruction-dag p implements c ranks 2 protocol Simple subdivision 1
buffers input[3] output[3] scratch
rank 0: input 3 output 3 scratch 3
rank 1: input 3 output 3 scratch 3
  %0 = rank 0 send input[0..2] to %1 chain 0 (channel 4) sendtb 1
  %1 = rank 1 rrs input[0..2] from %0 to %2 chain 0 sendtb 1 sends channel 4
  %2 = rank 0 recv -> scratch[1..3] from %1 chain 0 channel 4
  %3 = rank 0 send scratch[1..3] to %4 chain 1 after %2
  %4 = rank 1 recv -> input[1..3] from %3 chain 1 after ~%1
  %5 = rank 1 copy input[0..3] -> output[0..3] after %1, %4
)";
  SourceManager sources;
  Diagnostics diags(sources);
  std::vector<ir::InstructionDag> whole = ir::readInstructionDag(sources, diags, "p", text, {});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(test::text(lower::cutMessages(whole.front())),
            R"(instruction-dag p implements c ranks 2 protocol Simple subdivision 1
buffers input[3] output[3] scratch
rank 0: input 3 output 3 scratch 3
rank 1: input 3 output 3 scratch 3
  %0 = rank 0 send input[0] to %2 chain 0 (channel 4) sendtb 1
  %1 = rank 0 send input[1] to %3 chain 1 (channel 4) sendtb 1
  %2 = rank 1 rrs input[0] from %0 to %4 chain 0 sendtb 1 sends channel 4
  %3 = rank 1 rrs input[1] from %1 to %5 chain 1 sendtb 1 sends channel 4
  %4 = rank 0 recv -> scratch[1] from %2 chain 0 channel 4
  %5 = rank 0 recv -> scratch[2] from %3 chain 1 channel 4
  %6 = rank 0 send scratch[1] to %8 chain 2 after %4
  %7 = rank 0 send scratch[2] to %9 chain 3 after %5
  %8 = rank 1 recv -> input[1] from %6 chain 2 after ~%3
  %9 = rank 1 recv -> input[2] from %7 chain 3
  %10 = rank 1 copy input[0..3] -> output[0..3] after %2, %8, %9
)");
}

TEST(MscclCut, hasTheSlotsOfTheProtocol) {
  std::mt19937_64 random(4);
  ir::ChunkDag dag = test::randomProgram(random, {});
  auto info = std::make_shared<ir::ProgramInfo>(*dag.info);
  dag.info = info;
  for (auto [protocol, slots] :
       {std::pair(ir::Protocol::Simple, 2u), {ir::Protocol::LL, 8u}, {ir::Protocol::LL128, 8u}}) {
    info->protocol = protocol;
    EXPECT_EQ(emit::cutIntoSlots(compile(dag, true)).fifoSlots, slots);
  }
}
