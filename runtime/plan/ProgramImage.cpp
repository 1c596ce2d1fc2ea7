// SPDX-License-Identifier: Apache-2.0
// The constructor computes offsets. constants() writes the bytes, with addresses in them.
#include "plan/ProgramImage.h"

#include "gc3/Common/Opcode.h"

#include <algorithm>

namespace gc3::plan {

using namespace bundle;
using namespace common;
using namespace kernel;

namespace {

template <typename T>
T *at(std::byte *base, size_t offset) {
  return reinterpret_cast<T *>(base + offset);
}

/// Returns the kernel's buffer that contains the program's buffer, and adds the offset in it to `slot`. The kernel has
/// one buffer for all scratch buffers. An aliased buffer is a part of the rank's other buffer.
Buffer locate(const RankView &view, uint8_t buffer, uint32_t &slot) {
  if (buffer >= firstScratchBuffer) {
    for (uint8_t k = firstScratchBuffer; k != buffer; ++k)
      slot += view.scratchSlots[k - firstScratchBuffer];
    return Buffer::Scratch;
  }
  const bool input = buffer == inputBuffer;
  if (view.alias == (input ? fbs::Alias::InputInOutput : fbs::Alias::OutputInInput)) {
    slot += view.aliasOffset;
    return input ? Buffer::Output : Buffer::Input;
  }
  return input ? Buffer::Input : Buffer::Output;
}

StepImage stepOf(const RankView &view, const fbs::Instruction &from) {
  const OpcodeTraits &does = traits(static_cast<Opcode>(from.opcode()));
  StepImage step{OpcodeFlags(static_cast<Opcode>(from.opcode())),
                 Buffer::Input,
                 Buffer::Input,
                 false,
                 from.count(),
                 from.src_index(),
                 from.dst_index(),
                 from.wait_begin(),
                 from.wait_count(),
                 0,
                 Buffer::Input,
                 0};
  if (does.readsSrc)
    step.source = locate(view, from.src_buffer(), step.sourceSlot);
  if (does.writesDst)
    step.target = locate(view, from.dst_buffer(), step.targetSlot);
  return step;
}

} // namespace

/// Reserves whole cache lines for an array. Returns the array's offset.
template <typename T>
size_t ProgramImage::reserve(size_t count) {
  size_t begin = total;
  total += (count * sizeof(T) + lineBytes - 1) / lineBytes * lineBytes;
  return begin;
}

ProgramImage::ProgramImage(const core::Program &ofRanks, core::RankRange ranks, uint32_t slotsOfConnections)
    : program(ofRanks), range(ranks), slots(slotsOfConnections), firstBlock(program.firstThreadBlock(range.first)),
      endBlock(program.firstThreadBlock(range.end)) {
  size_t waits = 0;
  for (uint32_t r = range.first; r < range.end; ++r)
    waits += program.rank(r).waits.size();
  offsets.blocks = reserve<BlockImage>(blocks());
  offsets.steps = reserve<StepImage>(program.firstStep(range.end) - program.firstStep(range.first));
  offsets.waits = reserve<WaitImage>(waits);
  offsets.networkSends = reserve<NetworkSend>(blocks());
  offsets.networkReceives = reserve<NetworkReceive>(blocks());
  constant = total;
  offsets.progress = reserve<uint64_t>(blocks());
  offsets.tiles = reserve<uint64_t>(blocks());
  offsets.reports = reserve<Report>(blocks());
}

/// Returns whether the kernel can store the same bytes in the target of `step`, if it has one, and in the target of the
/// step that receives its message. The kernel stores as many bytes in both. So the receiver's slots must not be shorter
/// than those of `step`, as the last slots of a block can be.
bool ProgramImage::endsLikeTarget(uint32_t step, uint32_t receiver) const {
  const fbs::Instruction &from = program.instruction(step), &to = program.instruction(receiver);
  if (!traits(static_cast<Opcode>(from.opcode())).writesDst || program.info().whole_slots())
    return true;
  uint32_t own = from.dst_index(), peer = to.dst_index();
  const Buffer ownBuffer = locate(program.rank(program.rankOfStep(step)), from.dst_buffer(), own);
  const Buffer peerBuffer = locate(program.rank(program.rankOfStep(receiver)), to.dst_buffer(), peer);
  return peerBuffer == Buffer::Scratch || (peerBuffer == ownBuffer && peer == own);
}

void ProgramImage::sendDirectly(const core::Transfers &transfers) {
  receivers.assign(transfers.steps().size(), core::Transfers::none);
  arrives.assign(transfers.steps().size(), false);
  for (size_t step = 0; step < receivers.size(); ++step)
    if (const core::Transfers::StepTransfer &how = transfers.steps()[step];
        how.out == core::Transfer::Store && endsLikeTarget(static_cast<uint32_t>(step), how.receiver)) {
      receivers[step] = how.receiver;
      arrives[how.receiver] = true;
    }
}

uint32_t ProgramImage::directMessages() const {
  return static_cast<uint32_t>(std::count(arrives.begin(), arrives.end(), true));
}

/// Changes a step whose messages have no slot. `number` is its number in the program.
void ProgramImage::fillDirect(uint32_t number, StepImage &step) const {
  if (arrives[number]) {
    step.flags.receiveDirectly();
    step.source = step.target;
    step.sourceSlot = step.targetSlot;
    if (!step.flags.sends())
      step.count = 1; // the step moves no data, so it needs only one run
  }
  if (const uint32_t receiver = receivers[number]; receiver != core::Transfers::none) {
    const uint32_t peer = program.rankOfStep(receiver);
    const fbs::Instruction &to = program.instruction(receiver);
    step.flags.sendDirectly();
    step.peer = static_cast<uint8_t>(peer - range.first);
    step.peerSlot = to.dst_index();
    step.peerTarget = locate(program.rank(peer), to.dst_buffer(), step.peerSlot);
  }
}

/// Writes the steps and waits of rank `r`. `firstStep` and `firstWait` count those of earlier ranks.
void ProgramImage::fillSteps(uint32_t r, std::byte *host, uint32_t firstStep, uint32_t firstWait) const {
  const RankView &view = program.rank(r);
  StepImage *steps = at<StepImage>(host, offsets.steps) + firstStep;
  for (uint32_t i = 0; i < view.instructions.size(); ++i) {
    steps[i] = stepOf(view, view.instructions[i]);
    if (!receivers.empty())
      fillDirect(program.firstStep(r) + i, steps[i]);
  }
  for (const fbs::Wait &wait : view.waits) {
    const fbs::ThreadBlock &block = view.threadBlocks[wait.thread_block()];
    at<WaitImage>(host, offsets.waits)[firstWait++] = {wait.thread_block(), wait.step(), block.instruction_count()};
    steps[block.first_instruction() + wait.step()].isAwaited = true;
  }
}

/// Writes the thread blocks of rank `r`.
void ProgramImage::fillBlocks(uint32_t r, std::byte *host, std::byte *base, const ConnectionEnds &ends,
                              uint32_t firstStep, uint32_t firstWait) const {
  const RankView &view = program.rank(r);
  const uint32_t first = program.firstThreadBlock(r) - firstBlock;
  for (uint32_t tb = 0; tb < view.threadBlocks.size(); ++tb) {
    BlockImage &block = at<BlockImage>(host, offsets.blocks)[first + tb];
    block.steps = at<StepImage>(base, offsets.steps) + firstStep + view.threadBlocks[tb].first_instruction();
    block.waits = at<WaitImage>(base, offsets.waits) + firstWait;
    block.progress = at<uint64_t>(base, offsets.progress) + first;
    block.tiles = at<uint64_t>(base, offsets.tiles) + first + tb;
    block.report = at<Report>(base, offsets.reports) + first + tb;
    block.network = ends.machineNetwork();
    block.rank = r - range.first;
    block.block = tb;
    block.stepCount = view.threadBlocks[tb].instruction_count();
    fillConnections(first + tb, host, base, ends);
  }
}

/// Writes the connections of a block of the grid. Receivers return slots in batches. A batch is so small that a sender
/// always has as many slots as the program needs.
void ProgramImage::fillConnections(uint32_t number, std::byte *host, std::byte *base,
                                   const ConnectionEnds &ends) const {
  BlockImage &block = at<BlockImage>(host, offsets.blocks)[number];
  if (const uint32_t sends = program.outgoing(firstBlock + number); sends != core::Program::none) {
    block.out = ends.send(sends);
    if (ends.overNetwork(sends)) {
      at<NetworkSend>(host, offsets.networkSends)[number] = ends.networkSend(sends);
      block.out.network = at<NetworkSend>(base, offsets.networkSends) + number;
    }
  }
  if (const uint32_t receives = program.incoming(firstBlock + number); receives != core::Program::none) {
    block.in = ends.receive(receives);
    const uint32_t needed = program.info().min_fifo_slots();
    block.in.batch = slots <= needed ? 1 : std::max(1u, std::min(slots / 2, slots - needed + 1));
    if (ends.overNetwork(receives)) {
      at<NetworkReceive>(host, offsets.networkReceives)[number] = ends.networkReceive(receives);
      block.in.network = at<NetworkReceive>(base, offsets.networkReceives) + number;
    }
  }
}

std::vector<std::byte> ProgramImage::constants(std::byte *base, const ConnectionEnds &ends, KernelArgs &call) const {
  std::vector<std::byte> bytes(constant);
  uint32_t firstWait = 0;
  for (uint32_t r = range.first; r < range.end; ++r) {
    const uint32_t firstStep = program.firstStep(r) - program.firstStep(range.first);
    fillSteps(r, bytes.data(), firstStep, firstWait);
    fillBlocks(r, bytes.data(), base, ends, firstStep, firstWait);
    firstWait += static_cast<uint32_t>(program.rank(r).waits.size());
  }
  call.blocks = at<BlockImage>(base, offsets.blocks);
  call.peers = range.size() == program.ranks() ? Scope::Gpu : Scope::System;
  return bytes;
}

const Report *ProgramImage::reports(const std::byte *base) const {
  return reinterpret_cast<const Report *>(base + offsets.reports);
}

} // namespace gc3::plan
