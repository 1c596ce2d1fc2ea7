// SPDX-License-Identifier: Apache-2.0
// The interpreter: one step is a loop over runs of slots that lie together both here and in the message. With one tile
// a message is packed as densely as the buffers are, so that a whole step is usually a single copy or reduction.
#include "host/Run.h"

#include <algorithm>
#include <cstring>

namespace gc3::host {

using namespace bundle;

Run::Run(const Program &program)
    : prog(program), blocks(program.threadBlockCount()), fifos(new Fifo[program.connections().size()]),
      ranks(new RankState[program.ranks()]) {
  for (uint32_t r = 0; r < program.ranks(); ++r) {
    const RankView &view = program.rank(r);
    uint32_t first = program.firstThreadBlock(r);
    ranks[r].waits = view.waits;
    ranks[r].blocks = blocks.data() + first;
    ranks[r].active.reserve(view.threadBlocks.size());
    for (uint32_t tb = 0; tb < view.threadBlocks.size(); ++tb) {
      ThreadBlock &block = blocks[first + tb];
      block.instructions = view.instructions.data() + view.threadBlocks[tb].first_instruction();
      block.instructionCount = view.threadBlocks[tb].instruction_count();
      block.rank = r;
      if (uint32_t in = program.incoming(first + tb); in != Program::none)
        block.incoming = &fifos[in];
      if (uint32_t out = program.outgoing(first + tb); out != Program::none)
        block.outgoing = &fifos[out];
    }
  }
}

void Run::start(const Layout &newLayout, std::span<const RankMemory> memory, std::byte *fifoMemory,
                std::byte *scratchMemory, ReduceKernel kernel) {
  layout = &newLayout;
  reduce = kernel;
  for (uint32_t c = 0; c < prog.connections().size(); ++c) {
    size_t bytes = layout->slotBytes(prog.connections()[c].maxCount);
    fifos[c].reset(fifoMemory, bytes, layout->fifoSlots);
    fifoMemory += bytes * layout->fifoSlots;
  }
  operands.resize(layout->buffers.size());
  uint32_t count = 0;
  for (uint32_t r = 0; r < prog.ranks(); ++r) {
    const RankView &view = prog.rank(r);
    uint32_t at = layout->ranks[r].firstBuffer;
    operands[at] = {&layout->buffers[at], view.alias == fbs::Alias::InputInOutput ? memory[r].output : memory[r].input};
    operands[at + 1] = {&layout->buffers[at + 1],
                        view.alias == fbs::Alias::OutputInInput ? memory[r].input : memory[r].output};
    std::byte *scratch = scratchMemory;
    for (uint32_t s = 0; s < view.scratchSlots.size(); ++s) {
      const BufferLayout &buffer = layout->buffers[at + 2 + s];
      operands[at + 2 + s] = {&buffer, scratch};
      scratch += wholeCacheLines(buffer.elements * layout->elementSize);
    }
    scratchMemory += layout->ranks[r].scratchBytes;
    ranks[r].active.clear();
    for (uint32_t tb = prog.firstThreadBlock(r); tb < prog.firstThreadBlock(r + 1); ++tb) {
      blocks[tb].step = 0, blocks[tb].tile = 0, blocks[tb].finishedSteps = 0;
      if (blocks[tb].instructionCount != 0 && layout->tiles != 0)
        ranks[r].active.push_back(tb);
    }
    count += static_cast<uint32_t>(ranks[r].active.size());
  }
  unfinished.store(count, std::memory_order_release);
}

const fbs::Wait *Run::unmetWait(const ThreadBlock &block) const {
  const fbs::Instruction &inst = block.instructions[block.step];
  const RankState &rank = ranks[block.rank];
  for (uint32_t w = 0; w < inst.wait_count(); ++w) {
    const fbs::Wait &wait = rank.waits[inst.wait_begin() + w];
    const ThreadBlock &other = rank.blocks[wait.thread_block()];
    if (other.finishedSteps <= block.tile * other.instructionCount + wait.step())
      return &wait;
  }
  return nullptr;
}

Blocked Run::blocked(const ThreadBlock &block) const {
  if (block.step == block.instructionCount || block.tile == layout->tiles)
    return Blocked::Finished;
  const fbs::Instruction &inst = block.instructions[block.step];
  const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
  if (inst.wait_count() != 0 && unmetWait(block))
    return Blocked::Wait;
  if (needs.receives && !block.incoming->hasMessage())
    return Blocked::Message;
  if (needs.sends && !block.outgoing->hasSlot())
    return Blocked::Slot;
  return Blocked::No;
}

void Run::step(ThreadBlock &block) {
  const fbs::Instruction &inst = block.instructions[block.step];
  const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
  move(block, inst, needs.receives ? block.incoming->message() : nullptr,
       needs.sends ? block.outgoing->freeSlot() : nullptr);
  if (needs.receives)
    block.incoming->finishReceive();
  if (needs.sends)
    block.outgoing->finishSend();
  ++block.finishedSteps;
  if (++block.step == block.instructionCount) {
    if (++block.tile == layout->tiles)
      unfinished.fetch_sub(1, std::memory_order_acq_rel); // what this thread block wrote is visible to who sees 0
    else
      block.step = 0;
  }
}

bool Run::sweep(uint32_t rank) {
  std::vector<uint32_t> &active = ranks[rank].active;
  bool progress = false;
  for (size_t i = 0; i < active.size();) {
    ThreadBlock &block = blocks[active[i]];
    Blocked state;
    while ((state = blocked(block)) == Blocked::No) {
      step(block);
      progress = true;
    }
    if (state == Blocked::Finished) {
      active[i] = active.back();
      active.pop_back();
    } else {
      ++i;
    }
  }
  return progress;
}

void Run::move(const ThreadBlock &block, const fbs::Instruction &inst, const std::byte *in, std::byte *out) {
  auto opcode = static_cast<Opcode>(inst.opcode());
  const OpcodeTraits &needs = traits(opcode);
  const Operand *buffers = &operands[layout->ranks[block.rank].firstBuffer];
  const Operand *src = needs.reads ? &buffers[inst.src_buffer()] : nullptr;
  const Operand *dst = needs.writes ? &buffers[inst.dst_buffer()] : nullptr;
  const uint64_t tile = layout->tileElements, begin = block.tile * tile;
  const size_t size = layout->elementSize;
  const bool oneTile = layout->tiles == 1;
  for (uint64_t done = 0; done < inst.count();) {
    uint64_t slots = oneTile ? inst.count() - done : 1;
    uint64_t elements = UINT64_MAX;
    std::byte *pointers[2] = {nullptr, nullptr};
    for (int side = 0; side < 2; ++side) {
      const Operand *operand = side == 0 ? src : dst;
      if (!operand)
        continue;
      BufferLayout::Place place = operand->layout->at((side == 0 ? inst.src_index() : inst.dst_index()) + done);
      slots = std::min(slots, place.slots);
      // What is left of the block after this tile's beginning; the slot's own end is a multiple of slotElements unless
      // the block ends first.
      elements = std::min(elements, place.available > begin ? place.available - begin : 0);
      pointers[side] = operand->base + (place.offset + begin) * size;
    }
    uint64_t slotEnd = oneTile ? slots * layout->slotElements : std::min(tile, layout->slotElements - begin);
    elements = std::min(elements, slotEnd);
    if (elements != 0)
      moveRun(opcode, pointers[1], pointers[0], in, out, elements);
    in = in ? in + slots * tile * size : nullptr;
    out = out ? out + slots * tile * size : nullptr;
    done += slots;
  }
}

void Run::moveRun(Opcode opcode, std::byte *dst, const std::byte *src, const std::byte *in, std::byte *out,
                  uint64_t elements) {
  size_t bytes = elements * layout->elementSize;
  switch (opcode) {
  case Opcode::Send: std::memcpy(out, src, bytes); break;
  case Opcode::Recv: std::memcpy(dst, in, bytes); break;
  case Opcode::Copy: std::memmove(dst, src, bytes); break;
  case Opcode::Reduce: reduce(dst, dst, src, elements); break;
  case Opcode::RecvReduceCopy: reduce(dst, in, src, elements); break;
  case Opcode::RecvCopySend:
    std::memcpy(dst, in, bytes);
    std::memcpy(out, in, bytes);
    break;
  case Opcode::RecvReduceSend: reduce(out, in, src, elements); break;
  case Opcode::RecvReduceCopySend:
    reduce(dst, in, src, elements);
    std::memcpy(out, dst, bytes);
    break;
  }
}

} // namespace gc3::host
