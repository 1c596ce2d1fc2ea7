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
                 0,
                 {},
                 0};
  if (does.readsSrc) {
    const BufferPlace place = placeOf(view, from.src_buffer(), from.src_index());
    step.source = place.buffer, step.sourceSlot = place.slot;
  }
  if (does.writesDst) {
    const BufferPlace place = placeOf(view, from.dst_buffer(), from.dst_index());
    step.target = place.buffer, step.targetSlot = place.slot;
  }
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

ProgramImage::ProgramImage(const core::Program &ofRanks, core::RankRange ranks, uint32_t slotsOfConnections,
                           DirectMessages withoutSlots, SwitchSteps overSwitch)
    : program(ofRanks), range(ranks), slots(slotsOfConnections), firstBlock(program.firstThreadBlock(range.first)),
      endBlock(program.firstThreadBlock(range.end)), direct(std::move(withoutSlots)),
      switchSteps(std::move(overSwitch)), versions(switchSteps.any()       ? stepVersions
                                                   : direct.dependOnCall() ? switchVersion
                                                                           : 1) {
  size_t waits = 0;
  for (uint32_t r = range.first; r < range.end; ++r)
    waits += program.rank(r).waits.size();
  offsets.blocks = reserve<BlockImage>(blocks());
  offsets.steps = reserve<StepImage>(size_t{versions} * steps());
  offsets.waits = reserve<WaitImage>(waits);
  offsets.networkSends = reserve<NetworkSend>(blocks());
  offsets.networkReceives = reserve<NetworkReceive>(blocks());
  constant = total;
  offsets.progress = reserve<uint64_t>(blocks());
  offsets.tiles = reserve<uint64_t>(blocks());
  offsets.reports = reserve<Report>(blocks());
}

/// Changes a step whose messages have no slot in `version`. `number` is its number in the program.
void ProgramImage::fillDirect(uint32_t number, uint32_t version, StepImage &step) const {
  if ((version & receivesDirectly) != 0 && direct.arrives(number)) {
    step.flags.receiveDirectly();
    step.source = step.target;
    step.sourceSlot = step.targetSlot;
    if (!step.flags.sends())
      step.count = 1; // the step moves no data, so it needs only one run
  }
  if (const uint32_t receiver = direct.receiver(number);
      (version & sendsDirectly) != 0 && receiver != DirectMessages::none) {
    const fbs::Instruction &to = program.instruction(receiver);
    const BufferPlace place = placeOf(program.rank(program.rankOfStep(receiver)), to.dst_buffer(), to.dst_index());
    step.flags.sendDirectly();
    step.peer = direct.memory(number);
    step.peerTarget = place.buffer;
    step.peerSlot = place.slot;
  }
}

/// Changes a step in the version for calls over the switch. Its signals remain.
void ProgramImage::fillSwitch(uint32_t number, StepImage &step) const {
  const SwitchSteps::Step &how = switchSteps.of(number);
  step.data = step.flags;
  if (!how.sendsData)
    step.data.sendNothing();
  switch (how.data) {
  case SwitchSteps::Data::Ordinary: break;
  case SwitchSteps::Data::Nothing: step.data.moveNothing(); break;
  case SwitchSteps::Data::Arrived:
    step.data.receiveDirectly();
    step.source = step.target, step.sourceSlot = step.targetSlot;
    break;
  case SwitchSteps::Data::Shared: step.switched |= storesOverSwitch; [[fallthrough]];
  case SwitchSteps::Data::Reduced:
    step.switched |= loadsOverSwitch;
    step.data.readOnlySource();
    step.source = Buffer::Output, step.sourceSlot = how.from;
    break;
  }
}

/// Writes a version of the steps of rank `r`.
void ProgramImage::fillSteps(uint32_t r, std::byte *host, uint32_t version) const {
  const RankView &view = program.rank(r);
  const uint32_t first = program.firstStep(r), before = program.firstStep(range.first);
  // If there is only one version, all direct messages are direct in it.
  const uint32_t chosen = versions == 1 ? receivesDirectly | sendsDirectly : version;
  StepImage *to = at<StepImage>(host, offsets.steps) + size_t{version} * steps() + (first - before);
  for (uint32_t i = 0; i < view.instructions.size(); ++i) {
    to[i] = stepOf(view, view.instructions[i]);
    if (chosen == switchVersion)
      fillSwitch(first + i, to[i]);
    else
      fillDirect(first + i, chosen, to[i]);
  }
  for (const fbs::Wait &wait : view.waits)
    to[view.threadBlocks[wait.thread_block()].first_instruction() + wait.step()].isAwaited = true;
}

/// Writes the waits of rank `r`. `firstWait` counts those of earlier ranks.
void ProgramImage::fillWaits(uint32_t r, std::byte *host, uint32_t firstWait) const {
  const RankView &view = program.rank(r);
  for (const fbs::Wait &wait : view.waits)
    at<WaitImage>(host, offsets.waits)[firstWait++] = {wait.thread_block(), wait.step(),
                                                       view.threadBlocks[wait.thread_block()].instruction_count()};
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
    block.stepsOfVersion = steps();
    fillConnections(first + tb, host, base, ends);
  }
}

/// Writes the connections of a block of the grid.
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
    block.in.batch = slotsPerReturn(slots, program.info().min_fifo_slots());
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
    for (uint32_t version = 0; version < versions; ++version)
      fillSteps(r, bytes.data(), version);
    fillWaits(r, bytes.data(), firstWait);
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
