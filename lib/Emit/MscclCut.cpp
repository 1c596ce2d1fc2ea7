// SPDX-License-Identifier: Apache-2.0
// Cuts a program as finely as an MSCCL runtime does if only one slot fits into a message. Linear in the slots that
// steps move.
#include "gc3/Emit/MscclXml.h"

using namespace gc3::ir;

/// Returns the number of transfers that fit into NCCL's FIFO, which has eight steps. A transfer takes four of these
/// steps under Simple, and one under LL or LL128.
uint32_t gc3::emit::mscclSlots(Protocol protocol) {
  return protocol == Protocol::Simple ? 2 : 8;
}

/// Appends the one-slot parts of a step to `parts`. Only the first part has the waits of the step.
static void cut(Step step, std::vector<Step> &parts) {
  uint32_t count = step.count;
  for (step.count = 1; count != 0; --count) {
    parts.push_back(step);
    ++step.srcIndex;
    ++step.dstIndex;
    step.waitCount = 0;
  }
}

Program gc3::emit::cutIntoSlots(const Program &program) {
  Program result = program;
  result.fifoSlots = mscclSlots(program.info->protocol);
  result.steps.clear();
  std::vector<uint32_t> lastPart(program.steps.size()); // by step: the number of its last part in the thread block
  for (ThreadBlock &block : result.threadBlocks) {
    auto first = static_cast<uint32_t>(result.steps.size());
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i) {
      cut(program.steps[i], result.steps);
      lastPart[i] = static_cast<uint32_t>(result.steps.size()) - first - 1;
    }
    block.firstStep = first;
    block.stepCount = static_cast<uint32_t>(result.steps.size()) - first;
  }
  for (const ThreadBlock &block : program.threadBlocks)
    for (uint32_t i = block.firstStep; i != block.firstStep + block.stepCount; ++i)
      for (uint32_t w = program.steps[i].waitBegin; w != program.steps[i].waitBegin + program.steps[i].waitCount; ++w) {
        Wait &wait = result.waits[w];
        wait.step =
            lastPart[program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock].firstStep + wait.step];
      }
  return result;
}
