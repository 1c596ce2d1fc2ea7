// SPDX-License-Identifier: Apache-2.0
// See HappensBefore.h.
#include "core/HappensBefore.h"

#include "gc3/Common/Opcode.h"

#include <algorithm>

namespace gc3::core {

using namespace bundle;
using namespace common;

namespace {
constexpr uint64_t mostClockEntries = 1 << 22;
} // namespace

HappensBefore::HappensBefore(const Program &analysed) : program(analysed), blocks(analysed.threadBlockCount()) {
  const size_t steps = program.firstStep(program.ranks());
  if (steps * blocks > mostClockEntries)
    return;
  clocks.assign(steps * blocks, 0);
  positions.resize(steps);
  receivers.assign(steps, none);
  senders.assign(steps, none);
  executed.reserve(steps);
  isKnown = execute();
}

/// In each round, runs each thread block until it is blocked or ends. Returns false if the program deadlocks.
bool HappensBefore::execute() {
  Progress now;
  now.next.assign(blocks, 0);
  now.inFlight.resize(program.connections().size());
  now.received.assign(program.connections().size(), 0);
  uint64_t left = 0;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    for (const fbs::ThreadBlock &block : program.rank(r).threadBlocks)
      left += block.instruction_count();
  for (bool progress = true; progress && left != 0;) {
    progress = false;
    for (uint32_t r = 0; r < program.ranks(); ++r)
      for (uint32_t tb = program.firstThreadBlock(r); tb < program.firstThreadBlock(r + 1); ++tb) {
        const fbs::ThreadBlock &block = program.rank(r).threadBlocks[tb - program.firstThreadBlock(r)];
        for (; now.next[tb] < block.instruction_count(); ++now.next[tb], --left, progress = true)
          if (!executeStep(r, tb, now))
            break;
      }
  }
  return left == 0;
}

bool HappensBefore::executeStep(uint32_t rank, uint32_t tb, Progress &now) {
  const RankView &view = program.rank(rank);
  const uint32_t firstBlock = program.firstThreadBlock(rank), position = now.next[tb];
  auto stepOf = [&](uint32_t local, uint32_t at) {
    return program.firstStep(rank) + view.threadBlocks[local].first_instruction() + at;
  };
  const uint32_t step = stepOf(tb - firstBlock, position);
  const fbs::Instruction &inst = program.instruction(step);
  const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
  auto waits = view.waits.subspan(inst.wait_begin(), inst.wait_count());
  for (const fbs::Wait &wait : waits)
    if (now.next[firstBlock + wait.thread_block()] <= wait.step())
      return false;
  const uint32_t incoming = program.incoming(tb);
  if (needs.receives && now.received[incoming] == now.inFlight[incoming].size())
    return false;

  positions[step] = {tb, position};
  if (position != 0)
    join(step, stepOf(tb - firstBlock, position - 1));
  for (const fbs::Wait &wait : waits)
    join(step, stepOf(wait.thread_block(), wait.step()));
  if (needs.receives) {
    senders[step] = now.inFlight[incoming][now.received[incoming]++];
    receivers[senders[step]] = step;
    join(step, senders[step]);
  }
  clocks[size_t{step} * blocks + tb] = position + 1;
  if (needs.sends)
    now.inFlight[program.outgoing(tb)].push_back(step);
  executed.push_back(step);
  return true;
}

void HappensBefore::join(uint32_t step, uint32_t earlier) {
  uint32_t *to = &clocks[size_t{step} * blocks];
  const uint32_t *from = &clocks[size_t{earlier} * blocks];
  for (uint32_t i = 0; i < blocks; ++i)
    to[i] = std::max(to[i], from[i]);
}

bool HappensBefore::hasBegunBefore(uint32_t rank, uint32_t b) const {
  const auto clock = clocks.begin() + static_cast<ptrdiff_t>(size_t{b} * blocks);
  const uint32_t own = positions[b].threadBlock; // this thread block's entry in the clock counts `b` itself
  for (uint32_t tb = program.firstThreadBlock(rank); tb < program.firstThreadBlock(rank + 1); ++tb)
    if (clock[tb] > (tb == own ? 1u : 0u))
      return true;
  return false;
}

} // namespace gc3::core
