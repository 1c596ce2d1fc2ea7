// SPDX-License-Identifier: Apache-2.0
// The interpreters differ in three ways from what a file suggests. They do not execute a `nop`: its wait is added to
// the next executed step, and they do not count a `nop` without a wait. A thread block publishes its progress only
// after steps with `hasdep`; a wait for any other step ends at the next such step. Consecutive reductions into one
// place run as one.
#include "MscclRank.h"
#include "gc3/Support/Quantity.h"

using namespace gc3;
using namespace gc3::imports;
using namespace gc3::ir;

static constexpr uint32_t mostSources = 16; // limit for reductions that run as one

void MscclRank::beginThreadBlock(const ThreadBlock &block) {
  blockBegin.push_back(static_cast<uint32_t>(published.size()));
  program.threadBlocks.push_back(block);
  firstPending = static_cast<uint32_t>(program.waits.size());
  run = {};
}

/// Adds the wait of a step to the waits of the next executed step. Returns false if the step has no wait.
bool MscclRank::addWait(const Attributes &tag) {
  int64_t block = tag.number("depid", -1, INT32_MAX, -1);
  int64_t step = tag.number("deps", -1, INT32_MAX, -1);
  if ((block < 0) != (step < 0))
    tag.error(DiagId::BadWait, "deps", "only one of 'depid' and 'deps' is -1; set both to -1 for no wait, or neither");
  if (block < 0 || step < 0)
    return false;
  program.waits.push_back({static_cast<uint32_t>(block), static_cast<uint32_t>(step)});
  waitPlaces.push_back(tag.tag.range);
  return true;
}

void MscclRank::step(const Attributes &tag) {
  static constexpr Word<std::optional<Opcode>> types[] = {{"s", Opcode::Send},
                                                          {"r", Opcode::Recv},
                                                          {"cpy", Opcode::Copy},
                                                          {"re", Opcode::Reduce},
                                                          {"rrc", Opcode::RecvReduceCopy},
                                                          {"rcs", Opcode::RecvCopySend},
                                                          {"rrs", Opcode::RecvReduceSend},
                                                          {"rrcs", Opcode::RecvReduceCopySend},
                                                          {"nop", std::nullopt}};
  tag.require("type");
  std::optional<std::optional<Opcode>> opcode = tag.word<std::optional<Opcode>>("type", types);
  unsigned before = diags.errorCount();
  bool waits = addWait(tag);
  bool publishes = tag.flag("hasdep", false);
  bool executed = opcode && *opcode;
  published.push_back(executed && publishes ? program.threadBlocks.back().stepCount : None);
  if (executed)
    addStep(tag, **opcode, waits, publishes);
  else if (!opcode)
    firstPending = static_cast<uint32_t>(program.waits.size());
  else if (!waits && diags.errorCount() == before)
    diags.error(DiagId::BadWait, tag.tag.range,
                "the runtimes do not count a 'nop' without a wait, so waits for later steps of this thread block refer "
                "to wrong steps; remove the 'nop', and renumber the steps after it");
}

/// Reads a slot. If the step does not use it, accepts every value that the runtimes' reader accepts.
void MscclRank::slot(const Attributes &tag, const char *bufferKey, const char *indexKey, bool used, BufferId &buffer,
                     uint32_t &index) {
  static constexpr Word<BufferId> buffers[] = {{"i", InputBuffer}, {"o", OutputBuffer}, {"s", FirstScratchBuffer}};
  if (used)
    tag.require(bufferKey);
  BufferId named = tag.word<BufferId>(bufferKey, buffers).value_or(InputBuffer);
  int64_t first =
      tag.number(indexKey, used ? 0 : INT32_MIN, INT32_MAX, used ? std::nullopt : std::optional<int64_t>(0));
  if (!used)
    return;
  buffer = named;
  index = static_cast<uint32_t>(first);
}

void MscclRank::addStep(const Attributes &tag, Opcode opcode, bool waits, bool publishes) {
  Step step{};
  step.opcode = opcode;
  step.waitBegin = firstPending;
  step.waitCount = static_cast<uint32_t>(program.waits.size()) - firstPending;
  if (step.waitCount != 0 && !waits)
    diags.error(DiagId::BadWait, tag.tag.range,
                "the step after a 'nop' has no wait, so the runtimes drop the waits of the 'nop'; move the last of "
                "them to this step");
  firstPending = static_cast<uint32_t>(program.waits.size());
  step.count = tag.count("cnt", 1, INT32_MAX);
  slot(tag, "srcbuf", "srcoff", readsSrc(opcode), step.srcBuffer, step.srcIndex);
  slot(tag, "dstbuf", "dstoff", writesDst(opcode), step.dstBuffer, step.dstIndex);
  step.site = static_cast<uint32_t>(algorithm.info.sites.size());
  algorithm.info.sites.push_back(tag.tag.range);
  follow(tag, step, publishes);
  program.steps.push_back(step);
  ++program.threadBlocks.back().stepCount;
}

/// Tracks the reductions that the interpreters merge: consecutive reductions of one buffer into one place. A merged
/// reduction has at most `mostSources` sources and uses the count of the last reduction.
void MscclRank::follow(const Attributes &tag, const Step &step, bool publishes) {
  const Step &first = run.first;
  bool merges = run.length != 0 && step.opcode == Opcode::Reduce && step.waitCount == 0 &&
                step.srcBuffer == first.srcBuffer && step.dstBuffer == first.dstBuffer &&
                step.dstIndex == first.dstIndex;
  run.length = merges ? run.length + 1 : 1;
  algorithm.merged.push_back(merges);
  if (!merges)
    run.first = step;
  std::string problem;
  if (merges && step.count != run.first.count)
    problem = "with counts " + std::to_string(run.first.count) + " and " + std::to_string(step.count);
  else if (run.length == mostSources + 1)
    problem = "with more than the " + std::to_string(mostSources) + " sources that they support";
  if (!problem.empty())
    diags.error(DiagId::MergedReductions, tag.tag.range,
                "the runtimes merge this reduction with the ones before it, " + problem +
                    "; end the run with hasdep=\"1\" on the step before");
  if (publishes || step.opcode != Opcode::Reduce)
    run = {};
}

void MscclRank::endThreadBlock() {
  if (firstPending != program.waits.size())
    diags.error(DiagId::BadWait, waitPlaces.back(),
                "no step follows this 'nop' in its thread block, so its wait has no effect; remove it");
}

void MscclRank::resolve(Wait &wait, SourceRange place) {
  auto blocks = static_cast<uint32_t>(blockBegin.size());
  std::string name = "tb " + std::to_string(wait.threadBlock) + " step " + std::to_string(wait.step);
  if (wait.threadBlock >= blocks) {
    diags.error(DiagId::BadWait, place, "waits for " + name + ", but this gpu has " + quantity(blocks, "thread block"));
    return;
  }
  uint32_t begin = blockBegin[wait.threadBlock];
  uint32_t end =
      wait.threadBlock + 1 == blocks ? static_cast<uint32_t>(published.size()) : blockBegin[wait.threadBlock + 1];
  if (wait.step >= end - begin) {
    diags.error(DiagId::BadWait, place,
                "waits for " + name + ", but that thread block has " + quantity(end - begin, "step"));
    return;
  }
  wait.step = published[begin + wait.step];
  if (wait.step == None)
    diags.error(
        DiagId::BadWait, place,
        "waits for " + name +
            ", but neither that step nor a later one of its thread block has hasdep=\"1\", so the wait never ends");
}

static bool isIdle(const ThreadBlock &block) {
  return block.stepCount == 0 && block.sendPeer < 0 && block.recvPeer < 0;
}

void MscclRank::end() {
  for (size_t block = 0; block != blockBegin.size(); ++block) {
    size_t end = block + 1 == blockBegin.size() ? published.size() : blockBegin[block + 1];
    for (size_t i = end; i > blockBegin[block] + 1; --i) // the next publishing step also publishes this step
      if (published[i - 2] == None)
        published[i - 2] = published[i - 1];
  }
  for (size_t i = 0; i != waitPlaces.size(); ++i)
    resolve(program.waits[firstWait + i], waitPlaces[i]);
  if (blockBegin.size() == 1 && isIdle(program.threadBlocks.back()))
    program.threadBlocks.pop_back(); // the file has it only because the runtimes require a thread block on each rank
  program.rankBegin.push_back(static_cast<uint32_t>(program.threadBlocks.size()));
}
