// SPDX-License-Identifier: Apache-2.0
// See Accesses.h.
#include "core/Accesses.h"

#include "gc3/Common/Opcode.h"

namespace gc3::core {

using namespace bundle;
using namespace common;

namespace {
constexpr uint64_t mostSlots = 1 << 20;    // slots of all buffers of all ranks
constexpr uint64_t mostAccesses = 1 << 22; // slots that all steps read or write, counted once per step

const OpcodeTraits &needs(const fbs::Instruction &inst) {
  return traits(static_cast<Opcode>(inst.opcode()));
}
} // namespace

bool Accesses::affordable(const Program &program) {
  uint64_t slots = 0, touched = 0;
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const RankView &view = program.rank(r);
    slots += uint64_t{view.inputSlots} + view.outputSlots;
    for (uint32_t scratch : view.scratchSlots)
      slots += scratch;
    for (const fbs::Instruction &inst : view.instructions)
      touched += uint64_t{2} * inst.count();
  }
  return slots <= mostSlots && touched <= mostAccesses;
}

Accesses::Accesses(const Program &ofProgram, const HappensBefore &ofSteps, std::span<const Overlap> overlaps)
    : program(ofProgram), order(ofSteps), bufferBegin(ofProgram.ranks()), accesses(ofProgram.ranks()) {
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const RankView &view = program.rank(r);
    uint32_t input = 0, output = view.inputSlots, end = view.inputSlots + view.outputSlots;
    if (overlaps[r].alias == fbs::Alias::InputInOutput)
      input = output + overlaps[r].offset;
    else if (overlaps[r].alias == fbs::Alias::OutputInInput)
      output = input + overlaps[r].offset;
    bufferBegin[r] = {input, output};
    for (uint32_t slots : view.scratchSlots) {
      bufferBegin[r].push_back(end);
      end += slots;
    }
    accesses[r].resize(end);
    auto note = [&](SlotRange where, Access access) {
      for (uint32_t s = where.begin; s < where.begin + where.count; ++s)
        accesses[r][s].push_back(access);
    };
    for (uint32_t step = program.firstStep(r); step < program.firstStep(r + 1); ++step) {
      if (needs(program.instruction(step)).readsSrc)
        note(source(step), {step, false});
      if (needs(program.instruction(step)).writesDst)
        note(target(step), {step, true});
    }
  }
}

SlotRange Accesses::range(uint32_t step, uint32_t buffer, uint32_t index) const {
  return {bufferBegin[program.rankOfStep(step)][buffer] + index, program.instruction(step).count()};
}

SlotRange Accesses::source(uint32_t step) const {
  return range(step, program.instruction(step).src_buffer(), program.instruction(step).src_index());
}

SlotRange Accesses::target(uint32_t step) const {
  return range(step, program.instruction(step).dst_buffer(), program.instruction(step).dst_index());
}

/// Returns the target if the step writes it, because such a step sends the data that it has written. Otherwise returns
/// the source.
SlotRange Accesses::sent(uint32_t step) const {
  return needs(program.instruction(step)).writesDst ? target(step) : source(step);
}

void Accesses::remove(uint32_t step, SlotRange where, bool writes) {
  auto &ofRank = accesses[program.rankOfStep(step)];
  for (uint32_t s = where.begin; s < where.begin + where.count; ++s)
    std::erase_if(ofRank[s], [&](const Access &access) { return access.step == step && access.writes == writes; });
}

} // namespace gc3::core
