// SPDX-License-Identifier: Apache-2.0
// Compares the scheduler with an independent model of manual thread blocks, on random programs: the scheduler accepts a
// program exactly if the model finds a channel for each operation. Accepted programs meet their directives and run.
// After an error, following its advice leads to a program that the scheduler accepts.
#include "RandomProgram.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace gc3;
using gc3::test::text;

namespace {

/// Searches for a channel for each operation with a manual thread block, by backtracking. Other operations always find
/// a channel: they have one that no thread block uses, or the connection of their directive's channel.
class Model {
public:
  explicit Model(const ir::ChunkDag &dag) {
    for (const ir::ChunkOp &op : dag.ops) {
      const ir::Directive &directive = dag.info->directives[op.directive];
      if (op.kind != ir::ChunkOpKind::Start && (directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0))
        operations.push_back({op, directive});
    }
  }

  bool canMeet() { return find(0, firstFree); }

private:
  struct Operation {
    ir::ChunkOp op;
    ir::Directive directive;
  };
  using Block = std::pair<uint32_t, int>; // rank and number
  static constexpr int firstFree = 100;   // channels from here on are not named by any directive

  bool fits() const;
  bool find(size_t index, int freeChannels);

  std::vector<Operation> operations;
  std::vector<int> channels; // by operation
};

/// Returns true if the operations that have a channel can run together.
bool Model::fits() const {
  std::map<Block, std::set<int>> channelsOf;
  std::map<Block, std::set<uint32_t>> targetsOf, sourcesOf;
  std::map<std::tuple<uint32_t, uint32_t, int>, std::set<int>> sendersOf, receiversOf; // by source, destination, channel
  for (size_t i = 0; i != channels.size(); ++i) {
    const auto &[op, directive] = operations[i];
    if (op.srcRank == op.dstRank) {
      channelsOf[{op.srcRank, std::max(directive.sendThreadBlock, directive.recvThreadBlock)}].insert(channels[i]);
      continue;
    }
    if (int block = directive.sendThreadBlock; block >= 0) {
      channelsOf[{op.srcRank, block}].insert(channels[i]);
      targetsOf[{op.srcRank, block}].insert(op.dstRank);
      sendersOf[{op.srcRank, op.dstRank, channels[i]}].insert(block);
    }
    if (int block = directive.recvThreadBlock; block >= 0) {
      channelsOf[{op.dstRank, block}].insert(channels[i]);
      sourcesOf[{op.dstRank, block}].insert(op.srcRank);
      receiversOf[{op.srcRank, op.dstRank, channels[i]}].insert(block);
    }
  }
  auto single = [](const auto &sets) {
    return std::all_of(sets.begin(), sets.end(), [](const auto &entry) { return entry.second.size() == 1; });
  };
  return single(channelsOf) && single(targetsOf) && single(sourcesOf) && single(sendersOf) && single(receiversOf);
}

/// Tries all channels for operation `index` and the ones after it. The channels below `freeChannels` are in use.
bool Model::find(size_t index, int freeChannels) {
  if (index == operations.size())
    return true;
  std::vector<int> choices;
  if (int named = operations[index].directive.channel; named >= 0) {
    choices = {named};
  } else {
    choices = {0, 1};
    for (int channel = firstFree; channel <= freeChannels; ++channel)
      choices.push_back(channel);
  }
  for (int channel : choices) {
    channels.push_back(channel);
    if (fits() && find(index + 1, std::max(freeChannels, channel + (channel == freeChannels))))
      return true;
    channels.pop_back();
  }
  return false;
}

struct Outcome {
  std::optional<ir::Program> program;
  std::vector<Diagnostic> errors;
  uint32_t fusible = 0; // instructions that receive and send before scheduling
};

struct Totals {
  uint32_t accepted = 0, refused = 0, fusible = 0, fused = 0;
};

} // namespace

static bool isFused(ir::Opcode opcode) {
  return ir::receives(opcode) && ir::sends(opcode);
}

static Outcome compile(const ir::ChunkDag &dag, bool fuse) {
  SourceManager sources;
  Diagnostics diags(sources);
  Outcome outcome;
  std::optional<ir::InstructionDag> instructions = lower::lower(dag, {.fuse = fuse}, diags);
  if (instructions) {
    for (const ir::Instruction &instruction : instructions->instructions)
      outcome.fusible += isFused(instruction.opcode);
    outcome.program = schedule::schedule(*instructions, {.fifoSlots = 2}, diags);
  }
  outcome.errors = diags.all();
  return outcome;
}

/// Returns the index, on its rank, of the thread block with a manual number: manual blocks come first.
static uint32_t indexOf(const ir::ChunkDag &dag, uint32_t rank, int number) {
  std::set<int> lower;
  for (const ir::ChunkOp &op : dag.ops) {
    const ir::Directive &directive = dag.info->directives[op.directive];
    bool local = op.srcRank == op.dstRank;
    int sending = local ? std::max(directive.sendThreadBlock, directive.recvThreadBlock) : directive.sendThreadBlock;
    if (op.kind != ir::ChunkOpKind::Start && op.srcRank == rank && sending >= 0 && sending < number)
      lower.insert(sending);
    if (op.kind != ir::ChunkOpKind::Start && !local && op.dstRank == rank && directive.recvThreadBlock >= 0 &&
        directive.recvThreadBlock < number)
      lower.insert(directive.recvThreadBlock);
  }
  return static_cast<uint32_t>(lower.size());
}

/// Checks the thread blocks and the channel of one operation. Its steps have its site. A fused step has the site of the
/// operation that it receives.
static void checkOperation(const ir::ChunkDag &dag, const ir::Program &program, const ir::ChunkOp &op) {
  const ir::Directive &directive = dag.info->directives[op.directive];
  bool local = op.srcRank == op.dstRank;
  for (uint32_t index = program.rankBegin[op.dstRank]; index != program.rankBegin[op.dstRank + 1]; ++index) {
    const ir::ThreadBlock &block = program.threadBlocks[index];
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      const ir::Step &step = program.steps[i];
      if (step.site != op.site || (!local && !ir::receives(step.opcode)))
        continue;
      int own = local ? std::max(directive.sendThreadBlock, directive.recvThreadBlock) : directive.recvThreadBlock;
      if (own >= 0)
        EXPECT_EQ(index - program.rankBegin[op.dstRank], indexOf(dag, op.dstRank, own));
      if (directive.channel >= 0 && (!local || own >= 0))
        EXPECT_EQ(block.channel, static_cast<uint32_t>(directive.channel));
      for (uint32_t other = program.rankBegin[op.srcRank]; !local && other != program.rankBegin[op.srcRank + 1]; ++other)
        if (const ir::ThreadBlock &sender = program.threadBlocks[other];
            directive.sendThreadBlock >= 0 && sender.channel == block.channel &&
            sender.sendPeer == static_cast<int32_t>(op.dstRank))
          EXPECT_EQ(other - program.rankBegin[op.srcRank], indexOf(dag, op.srcRank, directive.sendThreadBlock));
    }
  }
}

static void checkAccepted(const ir::ChunkDag &dag, const ir::Program &program, std::mt19937_64 &random) {
  for (const ir::ChunkOp &op : dag.ops)
    if (op.kind != ir::ChunkOpKind::Start)
      ASSERT_NO_FATAL_FAILURE(checkOperation(dag, program, op));
  verify::Verdict verdict = verify::verify(program, {});
  ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message;
  ASSERT_EQ(test::runInRandomOrder(program, verdict.minSlots, random), "");
}

/// Changes the operation of an error as the message says. Both places of the error must use the block that it names.
static void followAdvice(ir::ChunkDag &dag, const Diagnostic &error) {
  ASSERT_EQ(error.id, DiagId::ThreadBlockConflict);
  ASSERT_EQ(error.notes.size(), 1u);
  const ir::ChunkOp &op = dag.ops[error.range.begin - 1];
  const ir::ChunkOp &other = dag.ops[error.notes[0].range.begin - 1];
  ASSERT_NE(&op, &other) << error.message;
  auto info = std::make_shared<ir::ProgramInfo>(*dag.info);
  ir::Directive &directive = info->directives[op.directive];
  auto says = [&](const char *advice) { return error.message.find(advice) != std::string::npos; };
  int unused = 1000 + static_cast<int>(error.range.begin) * 10;
  if (says("give the operations different channels")) {
    directive.channel = unused;
  } else if (says("leave out 'sendtb' and 'recvtb' of this operation")) {
    directive.sendThreadBlock = directive.recvThreadBlock = -1;
  } else {
    bool sends = error.message.find("receive from") == std::string::npos;
    bool same = says("give the operations the same thread block");
    ASSERT_TRUE(same || says("give the operations different thread blocks")) << error.message;
    const ir::Directive &theirs = info->directives[other.directive];
    int number = !same ? unused : sends ? theirs.sendThreadBlock : theirs.recvThreadBlock;
    if (op.srcRank == op.dstRank)
      directive.sendThreadBlock = directive.recvThreadBlock = number;
    else if (says("would serve both")) // names a block of either side
      (error.message.find("thread block " + std::to_string(directive.sendThreadBlock) + " of rank " +
                          std::to_string(op.srcRank) + " would") == 0
           ? directive.sendThreadBlock
           : directive.recvThreadBlock) = number;
    else
      (sends ? directive.sendThreadBlock : directive.recvThreadBlock) = number;
  }
  dag.info = info;
}

static void checkProgram(ir::ChunkDag &dag, bool fuse, std::mt19937_64 &random, Totals &totals) {
  const std::string before = text(dag);
  Outcome outcome = compile(dag, fuse);
  ASSERT_EQ(outcome.program.has_value(), Model(dag).canMeet())
      << (outcome.errors.empty() ? "" : outcome.errors[0].message) << '\n' << before;
  ++(outcome.program ? totals.accepted : totals.refused);
  size_t most = dag.ops.size();
  for (size_t changes = 0; !outcome.program; ++changes) {
    ASSERT_LE(changes, most) << before;
    Diagnostic error = outcome.errors.at(0);
    ASSERT_NO_FATAL_FAILURE(followAdvice(dag, error)) << before;
    outcome = compile(dag, fuse);
    for (const Diagnostic &next : outcome.errors)
      ASSERT_FALSE(next.range == error.range && next.message == error.message) << before << next.message;
  }
  ASSERT_NO_FATAL_FAILURE(checkAccepted(dag, *outcome.program, random)) << before << text(dag) << text(*outcome.program);
  totals.fusible += outcome.fusible;
  for (const ir::Step &step : outcome.program->steps)
    totals.fused += isFused(step.opcode);
}

namespace {

class ManualBlocks : public testing::TestWithParam<std::tuple<uint32_t, bool, bool>> {};

} // namespace

TEST_P(ManualBlocks, areAcceptedExactlyIfAModelCanMeetThem) {
  auto [maxRanks, channels, fuse] = GetParam();
  std::mt19937_64 random(maxRanks * 4 + channels * 2 + fuse);
  Totals totals;
  for (uint32_t i = 0; i != 3000; ++i) {
    ir::ChunkDag dag = test::randomProgram(
        random, {.maxRanks = maxRanks, .operations = 2 + i % 9, .manualBlocks = true, .channels = channels});
    ASSERT_NO_FATAL_FAILURE(checkProgram(dag, fuse, random, totals));
  }
  EXPECT_GT(totals.accepted, 300u);
  EXPECT_GT(totals.refused, 300u);
  RecordProperty("fused", std::to_string(totals.fused) + " of " + std::to_string(totals.fusible));
  std::printf("%u accepted, %u refused, %u of %u fused\n", totals.accepted, totals.refused, totals.fused, totals.fusible);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ManualBlocks,
                         testing::Combine(testing::Values(2, 3, 5), testing::Bool(), testing::Bool()));
