// SPDX-License-Identifier: Apache-2.0
// Determines which messages skip their slots with a call's layout, and where steps find their operands.
#include "host/Run.h"

#include <algorithm>

namespace gc3::host {

using namespace bundle;
using namespace common;
using namespace core;

/// Sets `allowed` to the messages that skip their slots. Source and destination of such a message must have slots of
/// equal lengths, because no step truncates the message. Messages that are better sent ahead use slots. Each message is
/// decided independently: using a slot for one message never prevents another message from skipping its slot. If
/// `isMapped` is true, this process can access the buffers of all ranks.
void Run::allow(const Transfers &transfers, bool isMapped, Allowed &allowed) const {
  const bool shortSlots = layout.count % slotsPerBlock(prog.info()) != 0;
  allowed.steps = transfers.steps();
  allowed.isFetchedFrom.assign(blocks.size(), false);
  if (!transfers.any())
    return;
  std::vector<Transfers::StepTransfer> &own = allowed.own;
  own.assign(allowed.steps.begin(), allowed.steps.end());
  allowed.steps = own;
  for (size_t tb = 0; tb < blocks.size(); ++tb) {
    bool leading = true;
    for (uint32_t number = 0; number < blocks[tb].instructionCount; ++number) {
      const uint32_t at = blocks[tb].firstStep + number;
      const fbs::Instruction &inst = prog.instruction(at);
      Transfers::StepTransfer &step = own[at];
      leading &= static_cast<Opcode>(inst.opcode()) == Opcode::Send && inst.wait_count() == 0;
      if (step.out != Transfer::Slot &&
          ((leading && betterSentAhead(step, inst)) || (shortSlots && !sameLengths(at, step.receiver)) ||
           (!isMapped && betterThroughSharedSlot(at, step.receiver))))
        step.out = own[step.receiver].in = Transfer::Slot;
      if (step.out == Transfer::Fetch)
        allowed.isFetchedFrom[tb] = true;
    }
  }
}

/// Returns whether a message that a thread block sends first should use a slot. For a small message, a second copy is
/// cheaper than a wait for the other ranks. The limit is larger for a message with a staged source, because such a
/// message is copied twice in any case.
bool Run::betterSentAhead(const Transfers::StepTransfer &step, const fbs::Instruction &inst) const {
  constexpr uint64_t mostBytes = 2 << 10, mostStagedBytes = 512 << 10;
  return messageBytes(inst) <= (step.staged != Transfers::none ? mostStagedBytes : mostBytes);
}

/// Returns whether a message between two processes should use a slot. The kernel copies memory of other processes page
/// by page, so for a small message, a second copy is cheaper.
bool Run::betterThroughSharedSlot(uint32_t sender, uint32_t receiver) const {
  constexpr uint64_t mostBytes = 16 << 10;
  return processOf(prog.rankOfStep(sender)) != processOf(prog.rankOfStep(receiver)) &&
         messageBytes(prog.instruction(sender)) <= mostBytes;
}

/// Returns the bytes of a message, of all tiles.
uint64_t Run::messageBytes(const fbs::Instruction &inst) const {
  return inst.count() * layout.slotElements * layout.elementSize;
}

/// Returns where a step reads its source.
Side Run::sourceOf(uint32_t step, uint64_t tile) const {
  const fbs::Instruction &inst = prog.instruction(step);
  const uint32_t rank = prog.rankOfStep(step);
  const RankState &state = ranks[rank];
  const Transfers::StepTransfer &how = state.allowed->steps[step];
  if (how.staged != Transfers::none)
    return {nullptr, 0, stagedTile(state, tile) + how.staged * layout.tileElements * layout.elementSize};
  return {operand(rank, inst.src_buffer(), how.initialSource), inst.src_index(), nullptr};
}

/// Returns where a sending step has its message.
Side Run::sentFrom(uint32_t step, uint64_t tile) const {
  const fbs::Instruction &inst = prog.instruction(step);
  if (!traits(static_cast<Opcode>(inst.opcode())).writesDst)
    return sourceOf(step, tile);
  return {operand(prog.rankOfStep(step), inst.dst_buffer(), false), inst.dst_index(), nullptr};
}

/// Returns where a receiving step writes its message.
Side Run::receivedAt(uint32_t step) const {
  const fbs::Instruction &inst = prog.instruction(step);
  return {operand(prog.rankOfStep(step), inst.dst_buffer(), false), inst.dst_index(), nullptr};
}

bool Run::sameLengths(uint32_t sender, uint32_t receiver) const {
  auto layoutOf = [&](uint32_t step, uint8_t buffer) {
    return &layout.buffers[layout.ranks[prog.rankOfStep(step)].firstBuffer + buffer];
  };
  const fbs::Instruction &from = prog.instruction(sender), &to = prog.instruction(receiver);
  bool stores = traits(static_cast<Opcode>(from.opcode())).writesDst;
  bool wanted = traits(static_cast<Opcode>(to.opcode())).writesDst;
  const BufferLayout *a = layoutOf(sender, stores ? from.dst_buffer() : from.src_buffer());
  const BufferLayout *b = layoutOf(receiver, wanted ? to.dst_buffer() : to.src_buffer());
  uint64_t atA = stores ? from.dst_index() : from.src_index(), atB = wanted ? to.dst_index() : to.src_index();
  for (uint32_t slot = 0; slot < from.count(); ++slot)
    if (std::min(a->at(atA + slot).available, layout.slotElements) !=
        std::min(b->at(atB + slot).available, layout.slotElements))
      return false;
  return true;
}

} // namespace gc3::host
