// SPDX-License-Identifier: Apache-2.0
// Compares the scheduler with an independent model of manual thread blocks, on random programs: the scheduler accepts a
// program exactly if the model finds a channel for each instance of each operation. Accepted programs meet their
// directives and run. After an error, following its advice leads to a program that the scheduler accepts.
#include "RandomProgram.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

using namespace gc3;
using gc3::test::text;

namespace {

/// Searches for a channel for each instance of each operation with a manual thread block, by backtracking. Other
/// operations always find a channel: they have one that no thread block uses, or the connection of their directive's
/// channel.
class LegalityModel {
public:
  explicit LegalityModel(const ir::ChunkDag &dag) {
    for (uint32_t instance = 0; instance != 4; ++instance)
      for (const ir::ChunkOp &op : dag.ops) {
        const ir::Directive &directive = dag.info->directives[op.directive];
        bool isManual = directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
        if (op.kind == ir::ChunkOpKind::Start || !isManual || instance >= directive.parallel)
          continue;
        operations.push_back({op, directive, instance});
        if (directive.channel >= 0)
          namedChannels.insert(named(directive.channel, instance));
      }
  }

  bool canMeet() { return find(0, firstFree); }

private:
  struct Operation {
    ir::ChunkOp op;
    ir::Directive directive;
    uint32_t instance;
  };
  using Block = std::tuple<uint32_t, int, uint32_t>; // rank, number, instance
  static constexpr int firstFree = 100;              // channels from here on are not named by any directive

  /// Channel 0 or 1 of instance j has the number 10 * j or 10 * j + 1.
  static int named(int channel, uint32_t instance) { return static_cast<int>(10 * instance) + channel; }
  bool fits() const;
  bool find(size_t index, int freeChannels);

  std::vector<Operation> operations;
  std::set<int> namedChannels;
  std::vector<int> channels; // by operation
};

/// Returns true if the operations that have a channel can run together.
bool LegalityModel::fits() const {
  std::map<Block, std::set<int>> channelsOf;
  std::map<Block, std::set<uint32_t>> targetsOf, sourcesOf;
  std::map<std::tuple<uint32_t, uint32_t, int>, std::set<int>> sendersOf,
      receiversOf;                               // by source, destination, channel
  std::map<int, std::set<uint32_t>> instancesOf; // by channel
  for (size_t i = 0; i != channels.size(); ++i) {
    const auto &[op, directive, instance] = operations[i];
    if (op.srcRank == op.dstRank) {
      Block block{op.srcRank, std::max(directive.sendThreadBlock, directive.recvThreadBlock), instance};
      channelsOf[block].insert(channels[i]);
      continue;
    }
    if (channels[i] < firstFree && (directive.channel >= 0 || directive.parallel != 1))
      instancesOf[channels[i]].insert(static_cast<uint32_t>(channels[i]) / 10);
    if (directive.parallel != 1)
      instancesOf[channels[i]].insert(instance);
    if (int block = directive.sendThreadBlock; block >= 0) {
      channelsOf[{op.srcRank, block, instance}].insert(channels[i]);
      targetsOf[{op.srcRank, block, instance}].insert(op.dstRank);
      sendersOf[{op.srcRank, op.dstRank, channels[i]}].insert(block);
    }
    if (int block = directive.recvThreadBlock; block >= 0) {
      channelsOf[{op.dstRank, block, instance}].insert(channels[i]);
      sourcesOf[{op.dstRank, block, instance}].insert(op.srcRank);
      receiversOf[{op.srcRank, op.dstRank, channels[i]}].insert(block);
    }
  }
  auto single = [](const auto &sets) {
    return std::all_of(sets.begin(), sets.end(), [](const auto &entry) { return entry.second.size() == 1; });
  };
  return single(channelsOf) && single(targetsOf) && single(sourcesOf) && single(sendersOf) && single(receiversOf) &&
         single(instancesOf);
}

/// Tries all channels for operation `index` and the ones after it. The channels below `freeChannels` are in use.
bool LegalityModel::find(size_t index, int freeChannels) {
  if (index == operations.size())
    return true;
  std::vector<int> choices;
  const auto &[op, directive, instance] = operations[index];
  if (directive.channel >= 0) {
    choices = {named(directive.channel, instance)};
  } else {
    for (int channel : namedChannels)
      if (directive.parallel == 1 || static_cast<uint32_t>(channel) / 10 == instance)
        choices.push_back(channel);
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
  return common::receives(opcode) && common::sends(opcode);
}

static Outcome compileManual(const ir::ChunkDag &dag, bool fuse) {
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

/// Returns the number of the thread block of an operation's source or target, or -1 if gc3 chooses it.
static int manualBlock(const ir::ChunkDag &dag, const ir::ChunkOp &op, bool source) {
  const ir::Directive &directive = dag.info->directives[op.directive];
  if (op.srcRank == op.dstRank)
    return std::max(directive.sendThreadBlock, directive.recvThreadBlock);
  return source ? directive.sendThreadBlock : directive.recvThreadBlock;
}

/// Returns the index, on its rank, of a copy of the thread block with a manual number: manual blocks come first.
static uint32_t indexOf(const ir::ChunkDag &dag, uint32_t rank, int number, uint32_t instance) {
  std::set<std::pair<int, uint32_t>> copies;
  for (const ir::ChunkOp &op : dag.ops) {
    if (op.kind == ir::ChunkOpKind::Start)
      continue;
    for (uint32_t i = 0; i != dag.info->directives[op.directive].parallel; ++i) {
      if (op.srcRank == rank)
        copies.insert({manualBlock(dag, op, true), i});
      if (op.dstRank == rank)
        copies.insert({manualBlock(dag, op, false), i});
    }
  }
  return static_cast<uint32_t>(std::distance(copies.lower_bound({0, 0}), copies.lower_bound({number, instance})));
}

/// Checks the thread block in which an instance of an operation ends, and the block that sends to it.
static void checkBlock(const ir::ChunkDag &dag, const ir::Program &program, const ir::ChunkOp &op, uint32_t index,
                       uint32_t instance) {
  const ir::ThreadBlock &block = program.threadBlocks[index];
  const bool local = op.srcRank == op.dstRank;
  const int own = manualBlock(dag, op, false);
  const int sending = manualBlock(dag, op, true);
  if (own >= 0) {
    EXPECT_EQ(index - program.rankBegin[op.dstRank], indexOf(dag, op.dstRank, own, instance));
  }
  const int channel = dag.info->directives[op.directive].channel;
  if (channel >= 0 && instance == 0 && (!local || own >= 0)) {
    EXPECT_EQ(block.channel, static_cast<uint32_t>(channel));
  }
  if (local || sending < 0)
    return;
  for (uint32_t other = program.rankBegin[op.srcRank]; other != program.rankBegin[op.srcRank + 1]; ++other) {
    const ir::ThreadBlock &sender = program.threadBlocks[other];
    if (sender.channel == block.channel && sender.sendPeer == static_cast<int32_t>(op.dstRank)) {
      EXPECT_EQ(other - program.rankBegin[op.srcRank], indexOf(dag, op.srcRank, sending, instance));
    }
  }
}

/// Returns the instance of the operation that the step runs, or nothing if the step does not store at the operation's
/// place.
static std::optional<uint32_t> instanceOf(const ir::ChunkDag &dag, const ir::Program &program, const ir::ChunkOp &op,
                                          const ir::Step &step) {
  const uint32_t parallel = dag.info->directives[op.directive].parallel;
  if (parallel == 1)
    return 0;
  const uint32_t first = op.dstIndex * program.subdivision;
  const uint32_t count = op.count * program.subdivision;
  if (!common::writesDst(step.opcode) || step.dstBuffer != op.dstBuffer || step.dstIndex < first ||
      step.dstIndex >= first + count)
    return std::nullopt;
  return (step.dstIndex - first) / (count / parallel);
}

/// Checks the blocks of an operation's steps. They have its site. A fused step has the site of the operation that it
/// receives.
static void checkOperation(const ir::ChunkDag &dag, const ir::Program &program, const ir::ChunkOp &op) {
  for (uint32_t index = program.rankBegin[op.dstRank]; index != program.rankBegin[op.dstRank + 1]; ++index) {
    const ir::ThreadBlock &block = program.threadBlocks[index];
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      const ir::Step &step = program.steps[i];
      if (step.site != op.site || (op.srcRank != op.dstRank && !common::receives(step.opcode)))
        continue;
      if (std::optional<uint32_t> instance = instanceOf(dag, program, op, step))
        checkBlock(dag, program, op, index, *instance);
    }
  }
}

static void checkAccepted(const ir::ChunkDag &dag, const ir::Program &program, std::mt19937_64 &random) {
  for (const ir::ChunkOp &op : dag.ops)
    if (op.kind != ir::ChunkOpKind::Start) {
      ASSERT_NO_FATAL_FAILURE(checkOperation(dag, program, op));
    }
  verify::Verdict verdict = verify::verify(program, {});
  ASSERT_TRUE(verdict.holds()) << verdict.findings.front().message;
  ASSERT_EQ(test::runInRandomOrder(program, verdict.minSlots, random), "");
}

/// Gives the operation of an error another thread block: `unused`, or the one of the other operation.
static void changeBlock(ir::Directive &directive, const ir::Directive &theirs, const ir::ChunkOp &op,
                        const std::string &message, int unused) {
  bool same = message.find("give the operations the same thread block") != std::string::npos;
  ASSERT_TRUE(same || message.find("give the operations different thread blocks") != std::string::npos) << message;
  bool receives = message.find("receive from") != std::string::npos;
  if (op.srcRank == op.dstRank)
    directive.sendThreadBlock = directive.recvThreadBlock = unused;
  else if (message.find("would serve both") != std::string::npos) // names a block of either side
    receives = message.find("block " + std::to_string(directive.sendThreadBlock) + " of rank " +
                            std::to_string(op.srcRank) + " would") == std::string::npos;
  if (receives)
    directive.recvThreadBlock = same ? theirs.recvThreadBlock : unused;
  else
    directive.sendThreadBlock = same ? theirs.sendThreadBlock : unused;
}

/// Checks that the two operations of an error use the thread blocks and connections that its message names.
static void checkPlaces(const ir::ChunkDag &dag, const Diagnostic &error, const ir::ChunkOp &op,
                        const ir::ChunkOp &other) {
  std::smatch match;
  auto uses = [&](const ir::ChunkOp &each, const std::string &number, const std::string &rank, bool sends) {
    return manualBlock(dag, each, sends) == std::stoi(number) &&
           (sends ? each.srcRank : each.dstRank) == std::stoul(rank);
  };
  if (std::regex_search(error.message, match, std::regex("block (\\d+) of rank (\\d+) would serve both channel"))) {
    for (const ir::ChunkOp *each : {&op, &other})
      EXPECT_TRUE(uses(*each, match[1], match[2], true) || uses(*each, match[1], match[2], false));
  } else if (std::regex_search(
                 error.message, match,
                 std::regex("block (\\d+) of rank (\\d+) would (.*) both rank (\\d+) and rank (\\d+);"))) {
    bool sends = match[3] == "send to";
    EXPECT_TRUE(uses(op, match[1], match[2], sends) && uses(other, match[1], match[2], sends));
    EXPECT_EQ(sends ? other.dstRank : other.srcRank, std::stoul(match[4]));
    EXPECT_EQ(sends ? op.dstRank : op.srcRank, std::stoul(match[5]));
  } else {
    ASSERT_TRUE(std::regex_search(
        error.message, match, std::regex("blocks (\\d+) and (\\d+) of rank (\\d+) would both (.*) rank (\\d+) on")));
    bool sends = match[4] == "send to";
    EXPECT_TRUE(uses(other, match[1], match[3], sends) && uses(op, match[2], match[3], sends));
    for (const ir::ChunkOp *each : {&op, &other})
      EXPECT_EQ(sends ? each->dstRank : each->srcRank, std::stoul(match[5]));
  }
}

/// Changes the operation of an error as the message says.
static void followAdvice(ir::ChunkDag &dag, const Diagnostic &error) {
  ASSERT_EQ(error.id, DiagId::ThreadBlockConflict);
  ASSERT_EQ(error.notes.size(), 1u);
  const ir::ChunkOp &op = dag.ops[error.range.begin - 1];
  const ir::ChunkOp &other = dag.ops[error.notes[0].range.begin - 1];
  ASSERT_NE(&op, &other) << error.message;
  checkPlaces(dag, error, op, other);
  auto info = std::make_shared<ir::ProgramInfo>(*dag.info);
  ir::Directive &directive = info->directives[op.directive];
  int unused = 1000 + static_cast<int>(error.range.begin);
  if (error.message.find("give the operations different channels") != std::string::npos)
    directive.channel = unused;
  else if (error.message.find("leave out 'sendtb' and 'recvtb' of this operation") != std::string::npos)
    directive.sendThreadBlock = directive.recvThreadBlock = -1;
  else
    changeBlock(directive, info->directives[other.directive], op, error.message, unused);
  dag.info = info;
}

static void checkProgram(ir::ChunkDag &dag, bool fuse, std::mt19937_64 &random, Totals &totals) {
  const std::string before = text(dag);
  Outcome outcome = compileManual(dag, fuse);
  ASSERT_EQ(outcome.program.has_value(), LegalityModel(dag).canMeet())
      << (outcome.errors.empty() ? "" : outcome.errors[0].message) << '\n'
      << before;
  ++(outcome.program ? totals.accepted : totals.refused);
  for (size_t changes = 0; !outcome.program; ++changes) {
    ASSERT_LE(changes, dag.ops.size()) << before;
    Diagnostic error = outcome.errors.at(0);
    ASSERT_NO_FATAL_FAILURE(followAdvice(dag, error)) << before;
    outcome = compileManual(dag, fuse);
    for (const Diagnostic &next : outcome.errors)
      ASSERT_FALSE(next.range == error.range && next.message == error.message) << before << next.message;
  }
  ASSERT_NO_FATAL_FAILURE(checkAccepted(dag, *outcome.program, random))
      << before << text(dag) << text(*outcome.program);
  totals.fusible += outcome.fusible;
  for (const ir::Step &step : outcome.program->steps)
    totals.fused += isFused(step.opcode);
}

namespace {

class ManualBlocks : public testing::TestWithParam<std::tuple<uint32_t, bool, bool, bool>> {};

} // namespace

TEST_P(ManualBlocks, areAcceptedExactlyIfAModelCanMeetThem) {
  auto [maxRanks, channels, fuse, instances] = GetParam();
  std::mt19937_64 random(maxRanks * 8 + channels * 4 + fuse * 2 + instances);
  Totals totals;
  const uint32_t programs = std::getenv("GC3_DEEP") ? 100000 : 3000;
  for (uint32_t i = 0; i != programs; ++i) {
    ir::ChunkDag dag = test::randomProgram(random, {.maxRanks = maxRanks,
                                                    .operations = 2 + i % 10,
                                                    .manualBlocks = true,
                                                    .channels = channels,
                                                    .instances = instances});
    ASSERT_NO_FATAL_FAILURE(checkProgram(dag, fuse, random, totals));
  }
  EXPECT_GT(totals.accepted, 1000u);
  EXPECT_GT(totals.refused, 50u);
  EXPECT_GE(totals.fused * 10, totals.fusible * 7) << totals.fused << " of " << totals.fusible;
}

INSTANTIATE_TEST_SUITE_P(Kinds, ManualBlocks,
                         testing::Combine(testing::Values(2, 3, 5), testing::Bool(), testing::Bool(), testing::Bool()));
