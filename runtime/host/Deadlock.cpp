// SPDX-License-Identifier: Apache-2.0
// Explains why nothing moves. Every unfinished thread block waits for exactly one other (the first of its unmet needs),
// so that following that from anywhere ends in a cycle, which is the cause; the others wait for it directly or not.
// O(thread blocks).
#include "host/Run.h"

#include <algorithm>

namespace gc3::host {

using namespace bundle;

/// The thread block that has to move first.
uint32_t Run::waitsFor(uint32_t index) const {
  const ThreadBlock &block = blocks[index];
  switch (blocked(block)) {
  case Blocked::Staging: return stagingWaitsFor(ranks[block.rank]);
  case Blocked::Wait: return prog.firstThreadBlock(block.rank) + unmetWait(block)->thread_block();
  case Blocked::Message: return prog.connections()[prog.incoming(index)].sender;
  case Blocked::Slot:
  case Blocked::Reader: return prog.connections()[prog.outgoing(index)].receiver;
  case Blocked::No:
  case Blocked::Finished: break;
  }
  return Program::none;
}

std::string Run::describe(uint32_t index) const {
  const ThreadBlock &block = blocks[index];
  uint32_t local = index - prog.firstThreadBlock(block.rank);
  const fbs::ThreadBlock &record = prog.rank(block.rank).threadBlocks[local];
  auto str = [](auto value) { return std::to_string(value); };
  std::string who = "rank " + str(block.rank) + " thread block " + str(local);
  if (blocked(block) == Blocked::Reader)
    return who + " (at its end) waits for rank " + str(record.send_peer()) + " to read its messages on channel " +
           str(record.channel());
  const fbs::Instruction &inst = block.instructions[block.step];
  std::string text = who + " step " + str(block.step) + " (" + traits(static_cast<Opcode>(inst.opcode())).name +
                     ", tile " + str(block.tile) + ") waits for ";
  switch (blocked(block)) {
  case Blocked::Staging: return text + "copies of an earlier tile to be read";
  case Blocked::Wait: {
    const fbs::Wait *wait = unmetWait(block);
    return text + "thread block " + str(wait->thread_block()) + " step " + str(wait->step());
  }
  case Blocked::Message:
    return text + "a message from rank " + str(record.recv_peer()) + " on channel " + str(record.channel());
  case Blocked::Slot:
    return text + "a free slot to rank " + str(record.send_peer()) + " on channel " + str(record.channel());
  case Blocked::Reader:
  case Blocked::No:
  case Blocked::Finished: break;
  }
  return text + "nothing";
}

std::string Run::explainDeadlock() const {
  constexpr size_t maxLines = 16;
  enum : uint8_t { Unseen, OnPath, Done };
  std::vector<uint8_t> mark(blocks.size(), Unseen);
  std::vector<uint32_t> cycle;
  for (uint32_t start = 0; start < blocks.size() && cycle.empty(); ++start) {
    std::vector<uint32_t> path;
    uint32_t at = start;
    for (; at != Program::none && mark[at] == Unseen && blocked(blocks[at]) != Blocked::Finished; at = waitsFor(at)) {
      mark[at] = OnPath;
      path.push_back(at);
    }
    if (at != Program::none && mark[at] == OnPath)
      cycle.assign(std::find(path.begin(), path.end(), at), path.end());
    for (uint32_t passed : path)
      mark[passed] = Done;
  }
  std::vector<bool> inCycle(blocks.size(), false);
  std::string text = "deadlock in program '" + prog.info().name()->str() + "' with " +
                     std::to_string(layout.fifoSlots) + " FIFO slots per connection; a cycle of " +
                     std::to_string(cycle.size()) + ":";
  size_t lines = 0, waiting = 0;
  auto add = [&](uint32_t index) { text += ++lines <= maxLines ? "\n  " + describe(index) : ""; };
  for (uint32_t index : cycle) {
    inCycle[index] = true;
    add(index);
  }
  size_t shown = std::min(lines, maxLines);
  bool heading = false;
  for (uint32_t index = 0; index < blocks.size(); ++index) {
    if (inCycle[index] || blocked(blocks[index]) == Blocked::Finished)
      continue;
    ++waiting;
    if (lines >= maxLines)
      continue;
    text += heading ? "" : "\n and behind it:";
    heading = true;
    add(index);
    ++shown;
  }
  if (size_t all = cycle.size() + waiting; all > shown)
    text += "\n  and " + std::to_string(all - shown) + " more";
  return text;
}

} // namespace gc3::host
