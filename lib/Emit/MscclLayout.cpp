// SPDX-License-Identifier: Apache-2.0
// Computes buffers, step numbers and published steps of an MSCCL file.
#include "Msccl.h"

using namespace gc3::emit;
using namespace gc3::ir;

MscclLayout::MscclLayout(const Program &program)
    : program(program), numbers(program.steps.size()), publishing(program.steps.size()) {
  layOutScratch();
  for (const ThreadBlock &block : program.threadBlocks) {
    numberSteps(block);
    endReductions(block);
  }
}

void MscclLayout::layOutScratch() {
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    uint64_t size = 0;
    for (uint32_t buffer = FirstScratchBuffer; buffer != program.info->bufferCount(); ++buffer) {
      scratchBegin.push_back(static_cast<uint32_t>(size));
      size += program.bufferSize(rank, static_cast<BufferId>(buffer));
    }
    scratchSizes.push_back(size);
  }
}

MscclSlot MscclLayout::slot(uint32_t rank, BufferId buffer, uint32_t index) const {
  if (buffer == InputBuffer)
    return {'i', index};
  if (buffer == OutputBuffer)
    return {'o', index};
  size_t scratchBuffers = program.info->scratchNames.size();
  return {'s', scratchBegin[rank * scratchBuffers + buffer - FirstScratchBuffer] + index};
}

void MscclLayout::numberSteps(const ThreadBlock &block) {
  uint32_t next = 0;
  for (uint32_t index = block.firstStep; index != block.firstStep + block.stepCount; ++index) {
    const Step &step = program.steps[index];
    numbers[index] = next + (step.waitCount == 0 ? 0 : step.waitCount - 1);
    next = numbers[index] + 1;
    for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i) {
      const Wait &wait = program.waits[i];
      publishing[program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock].firstStep + wait.step] = 1;
    }
  }
}

/// Marks steps as publishing if this prevents a wrong merge. The interpreters merge consecutive `re` steps with the
/// same target slot and source buffer. The merged step reads all sources first, uses the count of the last step, and
/// has room for 16 sources; the interpreters do not always check this limit.
void MscclLayout::endReductions(const ThreadBlock &block) {
  static constexpr uint32_t mostSources = 16;
  uint32_t sources = 1;
  for (uint32_t i = 1; i < block.stepCount; ++i) {
    const Step &step = program.steps[block.firstStep + i - 1];
    const Step &next = program.steps[block.firstStep + i];
    bool merges = step.opcode == Opcode::Reduce && next.opcode == Opcode::Reduce && next.waitCount == 0 &&
                  destination(block, step) == destination(block, next) &&
                  source(block, step).buffer == source(block, next).buffer;
    if (merges && (step.count != next.count || sources == mostSources || next.readsItsTarget()))
      publishing[block.firstStep + i - 1] = 1;
    sources = merges && !publishing[block.firstStep + i - 1] ? sources + 1 : 1;
  }
}
