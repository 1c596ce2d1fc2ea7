// SPDX-License-Identifier: Apache-2.0
// Runs the steps of thread blocks.
#include "host/Run.h"

#include <algorithm>
#include <type_traits>

namespace gc3::host {

using namespace bundle;
using namespace common;
using namespace core;

Run::Run(const LoadedProgram &ofCall, const Layout &ofBuffers, ReduceKernel kernel, std::byte *fifoMemory,
         std::byte *scratchMemory, std::span<const int> processIds, const std::atomic<bool> *hasEnded)
    : loaded(ofCall), prog(*ofCall.program), layout(ofBuffers), processes(processIds), ended(hasEnded),
      mover(ofBuffers, kernel), blocks(prog.threadBlockCount()),
      fifos(reinterpret_cast<Fifo *>(fifoMemory), prog.connections().size()), ranks(new RankState[prog.ranks()]) {
  size_t nextSlot = fifoHeadBytes(prog);
  for (uint32_t c = 0; c < fifos.size(); ++c) {
    const size_t bytes = layout.slotBytes(prog.connections()[c].maxCount);
    fifos[c].place(nextSlot - c * sizeof(Fifo), bytes, layout.fifoSlots);
    nextSlot += bytes * layout.fifoSlots;
  }
  auto linesFor = [](size_t count, size_t perLine) { return (count + perLine - 1) / perLine; };
  constexpr size_t operandsPerLine = std::extent_v<decltype(OperandLine::operands)>,
                   pendingPerLine = std::extent_v<decltype(PendingLine::pending)>;
  size_t operandLineCount = 0, activeLineCount = 0;
  for (uint32_t r = 0; r < prog.ranks(); ++r) {
    operandLineCount += linesFor(firstScratchBuffer + prog.rank(r).scratchSlots.size(), operandsPerLine);
    activeLineCount += linesFor(prog.rank(r).threadBlocks.size(), pendingPerLine);
  }
  operandLines.resize(operandLineCount);
  activeLines.resize(activeLineCount);
  OperandLine *nextOperands = operandLines.data();
  PendingLine *nextActive = activeLines.data();
  for (uint32_t r = 0; r < prog.ranks(); ++r) {
    const RankView &view = prog.rank(r);
    uint32_t first = prog.firstThreadBlock(r);
    ranks[r].waits = view.waits;
    ranks[r].blocks = blocks.data() + first;
    ranks[r].operands = reinterpret_cast<Operand *>(nextOperands);
    ranks[r].active = reinterpret_cast<Pending *>(nextActive); // empty if the rank has no thread blocks
    nextOperands += linesFor(firstScratchBuffer + view.scratchSlots.size(), operandsPerLine);
    nextActive += linesFor(view.threadBlocks.size(), pendingPerLine);
    for (uint32_t tb = 0; tb < view.threadBlocks.size(); ++tb) {
      ThreadBlockState &block = blocks[first + tb];
      block.instructions = view.instructions.data() + view.threadBlocks[tb].first_instruction();
      block.instructionCount = view.threadBlocks[tb].instruction_count();
      block.firstStep = prog.firstStep(r) + view.threadBlocks[tb].first_instruction();
      block.rank = r;
      for (uint32_t step = 0; step < block.instructionCount; ++step)
        block.sends += traits(static_cast<Opcode>(block.instructions[step].opcode())).sends;
      if (uint32_t in = prog.incoming(first + tb); in != Program::none)
        block.incoming = &fifos[in];
      if (uint32_t out = prog.outgoing(first + tb); out != Program::none)
        block.outgoing = &fifos[out];
    }
    setScratch(r, scratchMemory);
    scratchMemory += layout.ranks[r].scratchBytes;
    ranks[r].initialLayouts[inputBuffer] = ranks[r].initialLayouts[outputBuffer] = layout.ranks[r].input;
    ranks[r].initialLayouts[outputBuffer].firstSlot -= view.aliasOffset; // can wrap around; at() wraps back
  }
  allow(*loaded.asWritten, false, plain.asWritten);
  allow(*loaded.inPlace, false, plain.inPlace);
  if (!processes.empty()) {
    allow(*loaded.asWritten, true, mapped.asWritten);
    allow(*loaded.inPlace, true, mapped.inPlace);
  }
}

uint64_t Run::messagesMoved() const {
  uint64_t moved = 0;
  for (const Fifo &fifo : fifos)
    moved += fifo.sent.load(std::memory_order_relaxed) + fifo.received.load(std::memory_order_relaxed);
  return moved;
}

void Run::setScratch(uint32_t rank, std::byte *scratch) {
  ranks[rank].scratch = scratch;
  for (uint32_t s = 0; s < prog.rank(rank).scratchSlots.size(); ++s) {
    const uint32_t at = layout.ranks[rank].firstBuffer + firstScratchBuffer + s;
    ranks[rank].operands[firstScratchBuffer + s] = {&layout.buffers[at], scratch};
    scratch += wholeCacheLines(layout.buffers[at].elements * layout.elementSize);
  }
}

void Run::setBuffers(uint32_t rank, const RankMemory &memory) {
  RankState &state = ranks[rank];
  const RankView &view = prog.rank(rank);
  uint32_t at = layout.ranks[rank].firstBuffer;
  state.operands[inputBuffer] = {&layout.buffers[at],
                                 view.alias == fbs::Alias::InputInOutput ? memory.output : memory.input};
  state.operands[outputBuffer] = {&layout.buffers[at + 1],
                                  view.alias == fbs::Alias::OutputInInput ? memory.input : memory.output};
  for (uint8_t buffer : {inputBuffer, outputBuffer})
    state.initial[buffer] = {&state.initialLayouts[buffer], memory.input};
  state.separate = memory.separate;
  state.streams = memory.streams;
}

void Run::meet(uint32_t rank, const RankMemory &memory, int process, Sharing sharing) {
  RankState &state = ranks[rank];
  setBuffers(rank, memory);
  for (Operand *buffer : {&state.operands[inputBuffer], &state.operands[outputBuffer], &state.initial[inputBuffer],
                          &state.initial[outputBuffer]})
    buffer->isForeign = true, buffer->process = process;
  setStaging(rank, memory);
  shareMemory(rank, sharing);
}

void Run::start(uint32_t rank, const RankMemory &memory, Recording *recording) {
  RankState &state = ranks[rank];
  setBuffers(rank, memory);
  state.shared = false;
  state.recording = recording;
  state.allowed = memory.inPlace ? &plain.inPlace : &plain.asWritten;
  startStaging(rank, memory);
  state.activeCount = 0;
  for (uint32_t tb = prog.firstThreadBlock(rank); tb < prog.firstThreadBlock(rank + 1); ++tb) {
    blocks[tb].step = 0, blocks[tb].tile = 0;
    blocks[tb].finishedSteps.store(0, std::memory_order_relaxed);
    if (blocks[tb].instructionCount != 0 && layout.tiles != 0)
      state.active[state.activeCount++] = {nullptr, 0, tb};
  }
}

const fbs::Wait *Run::unmetWait(const ThreadBlockState &block) const {
  const fbs::Instruction &inst = block.instructions[block.step];
  const RankState &rank = ranks[block.rank];
  for (uint32_t w = 0; w < inst.wait_count(); ++w) {
    const fbs::Wait &wait = rank.waits[inst.wait_begin() + w];
    const ThreadBlockState &other = rank.blocks[wait.thread_block()];
    if (other.finishedSteps.load(std::memory_order_relaxed) <= block.tile * other.instructionCount + wait.step())
      return &wait;
  }
  return nullptr;
}

Blocked Run::blocked(const ThreadBlockState &block) const {
  if (block.step == block.instructionCount || block.tile == layout.tiles)
    return isFetchedFrom(block) && !block.outgoing->allReceived() ? Blocked::Reader : Blocked::Finished;
  const fbs::Instruction &inst = block.instructions[block.step];
  const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
  const RankState &rank = ranks[block.rank];
  if (block.tile == rank.stagedTiles && stagingWaitsFor(rank) != Program::none)
    return Blocked::Staging;
  if (inst.wait_count() != 0 && unmetWait(block))
    return Blocked::Wait;
  if (needs.receives && !block.incoming->hasMessage())
    return Blocked::Message;
  if (needs.sends && !block.outgoing->hasSlot())
    return Blocked::Slot;
  return Blocked::No;
}

void Run::step(ThreadBlockState &block) {
  ranks[block.rank].recording ? stepAndRecord<TimeRecording::On>(block) : stepAndRecord<TimeRecording::Off>(block);
}

template <Run::TimeRecording R>
void Run::stepAndRecord(ThreadBlockState &block) {
  if (RankState &rank = ranks[block.rank]; block.tile == rank.stagedTiles)
    stageTile(rank);
  move<R>(block, false);
}

/// Runs one step. If `ahead` is true, no step has written to the rank's buffers yet. So the step reads its source
/// there, and not in a staged copy.
template <Run::TimeRecording R>
void Run::move(ThreadBlockState &block, bool ahead) {
  const RankState &rank = ranks[block.rank];
  const fbs::Instruction &inst = block.instructions[block.step];
  const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
  const uint32_t number = block.firstStep + block.step;
  const Transfers::StepTransfer &how = rank.allowed->steps[number];
  Move data{static_cast<Opcode>(inst.opcode()), inst.count(), block.tile, {}, {}, {}, {}, {}};
  if (needs.readsSrc)
    data.source = ahead ? Side{operand(block.rank, inst.src_buffer(), how.initialSource), inst.src_index(), nullptr}
                        : sourceOf(number, block.tile);
  if (needs.writesDst)
    data.target = {operand(block.rank, inst.dst_buffer(), false), inst.dst_index(), nullptr};
  if (data.opcode == Opcode::Reduce)
    data.accumulator = {operand(block.rank, inst.dst_buffer(), how.initialTarget), inst.dst_index(), nullptr};
  if (needs.receives) {
    if (!rank.shared || how.in == Transfer::Slot)
      data.incoming.packed = block.incoming->message();
    else if (how.in == Transfer::Fetch)
      data.incoming = sentFrom(how.sender, block.tile);
  }
  if (needs.sends) {
    if (!rank.shared || how.out == Transfer::Slot)
      data.outgoing.packed = block.outgoing->freeSlot();
    else if (how.out == Transfer::Store)
      data.outgoing = receivedAt(how.receiver);
  }
  auto cold = [](const Transfers::StepTransfer::Warm &warm, const RankState &state) {
    return state.streams && !(state.separate ? warm.second : warm.first);
  };
  data.streamTarget = how.lastWrite && cold(how.warmTarget, rank);
  if (data.outgoing.operand)
    data.streamOutgoing =
        rank.allowed->steps[how.receiver].lastWrite && cold(how.warmStore, ranks[prog.rankOfStep(how.receiver)]);
  if constexpr (R == TimeRecording::On) {
    const uint64_t begin = trace::now();
    if (!moveData(data))
      return;
    rank.recording->note(static_cast<uint32_t>(&block - rank.blocks), block.step, block.tile, {begin, trace::now()});
  } else if (!moveData(data)) {
    return;
  }
  if (needs.receives)
    block.incoming->finishReceive();
  if (needs.sends)
    block.outgoing->finishSend();
  block.finishedSteps.store(block.finishedSteps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (++block.step == block.instructionCount && ++block.tile != layout.tiles)
    block.step = 0;
}

/// Returns false after a failure. Then the step has not been made, and sweeps end. A message from another process
/// counts only if that process had not ended the call before all of it was read.
bool Run::moveData(const Move &data) {
  const bool isForeign = ended && (data.incoming.isForeign() || data.outgoing.isForeign());
  const auto mayAccess = [&] { return !isForeign || !ended->load(std::memory_order_seq_cst); };
  if (mayAccess() && mover(data) && mayAccess())
    return true;
  accessFailed.store(true, std::memory_order_relaxed);
  return false;
}

/// Returns the counter for which a blocked thread block waits. Until the counter reaches its least value, sweepOnce()
/// does not call blocked() again. blocked() then reads the awaited state with the required memory order.
Run::Pending Run::pendingOn(const ThreadBlockState &block, Blocked why) const {
  const auto index = static_cast<uint32_t>(&block - blocks.data());
  switch (why) {
  case Blocked::Wait: {
    const fbs::Wait &wait = *unmetWait(block);
    const ThreadBlockState &other = ranks[block.rank].blocks[wait.thread_block()];
    return {&other.finishedSteps, block.tile * other.instructionCount + wait.step() + 1, index};
  }
  case Blocked::Message: return {&block.incoming->sent, block.incoming->receivedBefore + 1, index};
  case Blocked::Slot: return {&block.outgoing->received, block.outgoing->sentBefore + 1 - block.outgoing->slots, index};
  case Blocked::Reader: return {&block.outgoing->received, block.outgoing->sentBefore, index};
  case Blocked::No:
  case Blocked::Staging:
  case Blocked::Finished: break;
  }
  return {nullptr, 0, index};
}

/// Runs each thread block for at most one tile, so that no thread block runs far ahead. The thread blocks work on the
/// same data, and other ranks wait for each of them.
template <Run::TimeRecording R>
bool Run::sweepOnce(RankState &state) {
  bool progress = false;
  for (uint32_t i = 0; i < state.activeCount;) {
    Pending &pending = state.active[i];
    if (pending.isUnmet()) {
      ++i;
      continue;
    }
    ThreadBlockState &block = blocks[pending.block];
    const uint64_t tile = block.tile;
    Blocked now;
    while ((now = blocked(block)) == Blocked::No && block.tile == tile) {
      stepAndRecord<R>(block);
      if (hasFailed())
        return false;
      progress = true;
    }
    if (now == Blocked::Finished) {
      pending = state.active[--state.activeCount];
      progress = true; // another thread block may have waited for this one to leave state Reader
    } else {
      pending = pendingOn(block, now);
      ++i;
    }
  }
  return progress;
}

bool Run::sweep(uint32_t rank) {
  RankState &state = ranks[rank];
  bool progress = false;
  while (state.recording ? sweepOnce<TimeRecording::On>(state) : sweepOnce<TimeRecording::Off>(state))
    progress = true;
  return progress;
}

void Run::expectMessages(uint32_t rank) const {
  constexpr size_t mostBytes = 2048; // the processor itself prefetches the rest of a larger message
  for (uint32_t i = 0; i < ranks[rank].activeCount; ++i)
    if (Fifo *fifo = blocks[ranks[rank].active[i].block].incoming)
      fifo->expectMessage(std::min(fifo->slotBytes, mostBytes));
}

void Run::sendAhead(uint32_t rank, Sharing kinds) {
  RankState &state = ranks[rank];
  const Rules &rules = rulesFor(kinds); // under `mapped`, at least as many messages skip their slots as under `plain`
  auto throughSlot = [&](uint32_t step) {
    return (!hasAny(kinds, Sharing::AsWritten) || rules.asWritten.steps[step].out == Transfer::Slot) &&
           (!hasAny(kinds, Sharing::InPlace) || rules.inPlace.steps[step].out == Transfer::Slot);
  };
  const bool stages = state.stagedTiles != never;
  uint32_t sent = 0, readers = 0;
  for (uint32_t i = 0; i < state.activeCount; ++i) {
    ThreadBlockState &block = blocks[state.active[i].block];
    while (blocked(block) == Blocked::No && (block.tile == 0 || !stages) &&
           static_cast<Opcode>(block.instructions[block.step].opcode()) == Opcode::Send &&
           throughSlot(block.firstStep + block.step)) {
      readers += state.allowed->steps[block.firstStep + block.step].staged != Transfers::none;
      ++sent;
      state.recording ? move<TimeRecording::On>(block, true) : move<TimeRecording::Off>(block, true);
    }
  }
  // A rank that receives one of these messages may assume that this rank has staged the tile. If all steps that read
  // staged slots have run here, no copy is needed.
  if (!stages || sent == 0)
    return;
  if (readers == state.toStage->readers)
    ++state.stagedTiles;
  else
    stageTile(state);
}

} // namespace gc3::host
