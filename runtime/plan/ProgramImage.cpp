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
  StepImage step{from.opcode(),    Buffer::Input,     Buffer::Input,    0, from.count(), from.src_index(),
                 from.dst_index(), from.wait_begin(), from.wait_count()};
  if (does.readsSrc)
    step.source = locate(view, from.src_buffer(), step.sourceSlot);
  if (does.writesDst)
    step.target = locate(view, from.dst_buffer(), step.targetSlot);
  return step;
}

/// Returns the index of a connection in a sorted list, or none.
uint32_t indexOf(const std::vector<uint32_t> &connections, uint32_t connection) {
  if (connection == core::Program::none)
    return none;
  return static_cast<uint32_t>(std::lower_bound(connections.begin(), connections.end(), connection) -
                               connections.begin());
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
  for (uint32_t c = 0; c < program.connections().size(); ++c) {
    if (holds(program.connections()[c].sender))
      sends.push_back(c);
    if (holds(program.connections()[c].receiver))
      receives.push_back(c);
  }
  offsets.ranks = reserve<RankImage>(range.size());
  offsets.assignments = reserve<BlockAssignment>(blocks());
  offsets.steps = reserve<StepImage>(program.firstStep(range.end) - program.firstStep(range.first));
  offsets.waits = reserve<WaitImage>(waits);
  offsets.blocks = reserve<ThreadBlockImage>(blocks());
  offsets.sends = reserve<SendEnd>(sends.size());
  offsets.receives = reserve<ReceiveEnd>(receives.size());
  offsets.networkSends = reserve<NetworkSend>(sends.size());
  offsets.networkReceives = reserve<NetworkReceive>(receives.size());
  constant = total;
  offsets.progress = reserve<uint64_t>(blocks());
  offsets.tiles = reserve<uint64_t>(blocks());
  offsets.reports = reserve<Report>(blocks());
}

/// Writes all data of a rank except connections. `firstWait` counts the waits of earlier ranks.
void ProgramImage::fillRank(uint32_t r, std::byte *host, std::byte *base, const void *network,
                            uint32_t &firstWait) const {
  const RankView &view = program.rank(r);
  const uint32_t firstStep = program.firstStep(r) - program.firstStep(range.first);
  const uint32_t first = program.firstThreadBlock(r) - firstBlock;
  at<RankImage>(host, offsets.ranks)[r - range.first] = {at<StepImage>(base, offsets.steps) + firstStep,
                                                         at<WaitImage>(base, offsets.waits) + firstWait,
                                                         at<ThreadBlockImage>(base, offsets.blocks) + first,
                                                         at<SendEnd>(base, offsets.sends),
                                                         at<ReceiveEnd>(base, offsets.receives),
                                                         at<NetworkSend>(base, offsets.networkSends),
                                                         at<NetworkReceive>(base, offsets.networkReceives),
                                                         network,
                                                         at<uint64_t>(base, offsets.progress) + first,
                                                         at<uint64_t>(base, offsets.tiles) + first,
                                                         at<Report>(base, offsets.reports) + first};
  StepImage *steps = at<StepImage>(host, offsets.steps) + firstStep;
  for (size_t i = 0; i < view.instructions.size(); ++i)
    steps[i] = stepOf(view, view.instructions[i]);
  for (const fbs::Wait &wait : view.waits) {
    const fbs::ThreadBlock &block = view.threadBlocks[wait.thread_block()];
    at<WaitImage>(host, offsets.waits)[firstWait++] = {wait.thread_block(), wait.step(), block.instruction_count()};
    steps[block.first_instruction() + wait.step()].awaited = 1;
  }
  for (uint32_t tb = 0; tb < view.threadBlocks.size(); ++tb) {
    at<BlockAssignment>(host, offsets.assignments)[first + tb] = {r - range.first, tb};
    at<ThreadBlockImage>(host, offsets.blocks)[first + tb] = {
        view.threadBlocks[tb].first_instruction(), view.threadBlocks[tb].instruction_count(),
        indexOf(sends, program.outgoing(firstBlock + first + tb)),
        indexOf(receives, program.incoming(firstBlock + first + tb))};
  }
}

/// A connection over the network has the same index in the array of ends and in the array of network ends. Receivers
/// return slots in batches. A batch is so small that a sender always has as many slots as the program needs.
void ProgramImage::fillConnections(std::byte *host, const ConnectionEnds &ends) const {
  const uint32_t needed = program.info().min_fifo_slots();
  const uint32_t batch = slots <= needed ? 1 : std::max(1u, std::min(slots / 2, slots - needed + 1));
  for (uint32_t i = 0; i < sends.size(); ++i) {
    SendEnd &end = at<SendEnd>(host, offsets.sends)[i] = ends.send(sends[i]);
    if (ends.overNetwork(sends[i])) {
      end.network = i;
      at<NetworkSend>(host, offsets.networkSends)[i] = ends.networkSend(sends[i]);
    }
  }
  for (uint32_t i = 0; i < receives.size(); ++i) {
    ReceiveEnd &end = at<ReceiveEnd>(host, offsets.receives)[i] = ends.receive(receives[i]);
    if (ends.overNetwork(receives[i])) {
      end.network = i;
      at<NetworkReceive>(host, offsets.networkReceives)[i] = ends.networkReceive(receives[i], batch);
    }
  }
}

std::vector<std::byte> ProgramImage::constants(std::byte *base, const ConnectionEnds &ends, KernelArgs &call) const {
  std::vector<std::byte> bytes(constant);
  std::byte *host = bytes.data();
  uint32_t firstWait = 0;
  for (uint32_t r = range.first; r < range.end; ++r)
    fillRank(r, host, base, ends.machineNetwork(), firstWait);
  fillConnections(host, ends);
  call.ranks = at<RankImage>(base, offsets.ranks);
  call.assignments = at<BlockAssignment>(base, offsets.assignments);
  call.peers = range.size() == program.ranks() ? Scope::Gpu : Scope::System;
  return bytes;
}

const Report *ProgramImage::reports(const std::byte *base) const {
  return reinterpret_cast<const Report *>(base + offsets.reports);
}

} // namespace gc3::plan
