// SPDX-License-Identifier: Apache-2.0
#include "plan/DirectMessages.h"

#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <optional>

namespace gc3::plan {

using namespace bundle;
using namespace common;
using kernel::Buffer;

namespace {

BufferPlace targetOf(const core::Program &program, uint32_t step) {
  const fbs::Instruction &of = program.instruction(step);
  return placeOf(program.rank(program.rankOfStep(step)), of.dst_buffer(), of.dst_index());
}

/// Returns whether the kernel can store the same bytes in the target of `step`, if it has one, and in the target of the
/// step that receives its message. The kernel stores as many bytes in both. So the receiver's slots must not be shorter
/// than those of `step`, as the last slots of a block can be.
bool endsLikeTarget(const core::Program &program, uint32_t step, uint32_t receiver) {
  if (!traits(static_cast<Opcode>(program.instruction(step).opcode())).writesDst || program.info().whole_slots())
    return true;
  const BufferPlace peer = targetOf(program, receiver);
  return peer.buffer == Buffer::Scratch || peer == targetOf(program, step);
}

} // namespace

/// Adds the messages that can be stored. `memoryOf` takes the ranks of the sender and the receiver, and the receiving
/// step. It returns the receiver's index in KernelArgs::memory, or no value if the sender cannot reach the target.
template <typename Memory>
void DirectMessages::add(const core::Program &program, const core::Transfers &transfers, const Memory &memoryOf) {
  const std::span<const core::Transfers::StepTransfer> steps = transfers.steps();
  receivers.assign(steps.size(), none);
  arrivals.assign(steps.size(), false);
  memories.assign(steps.size(), 0);
  for (uint32_t step = 0; step < steps.size(); ++step) {
    const uint32_t receiver = steps[step].receiver;
    if (steps[step].out != core::Transfer::Store || !endsLikeTarget(program, step, receiver))
      continue;
    const std::optional<uint8_t> memory = memoryOf(program.rankOfStep(step), program.rankOfStep(receiver), receiver);
    if (!memory)
      continue;
    receivers[step] = receiver;
    arrivals[receiver] = true;
    memories[step] = *memory;
    ++messages;
  }
}

DirectMessages DirectMessages::inOneLaunch(const core::Program &program, const core::Transfers &transfers) {
  DirectMessages result;
  result.add(program, transfers,
             [](uint32_t, uint32_t to, uint32_t) { return std::optional(static_cast<uint8_t>(to)); });
  return result;
}

DirectMessages DirectMessages::betweenLaunches(const core::Program &program, const core::Transfers &transfers,
                                               std::span<const uint32_t> teams) {
  DirectMessages result;
  result.peersOfRank.resize(program.ranks());
  result.add(program, transfers, [&](uint32_t from, uint32_t to, uint32_t receiver) -> std::optional<uint8_t> {
    if (teams[from] != teams[to] || targetOf(program, receiver).buffer != Buffer::Output)
      return std::nullopt;
    std::vector<uint32_t> &peers = result.peersOfRank[from];
    const auto known = std::find(peers.begin(), peers.end(), to);
    if (known == peers.end()) {
      if (peers.size() + 1 == kernel::switchMemory)
        return std::nullopt;
      peers.push_back(to);
      return static_cast<uint8_t>(peers.size());
    }
    return static_cast<uint8_t>(known - peers.begin() + 1);
  });
  return result;
}

} // namespace gc3::plan
