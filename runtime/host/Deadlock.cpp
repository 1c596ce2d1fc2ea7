// SPDX-License-Identifier: Apache-2.0
// Explains a deadlock. For each unfinished thread block, only the first unmet dependency counts, so the thread block
// waits for exactly one other. A walk along these edges from any thread block ends in a cycle, which is the cause. All
// other thread blocks wait for the cycle, directly or indirectly. Takes O(thread blocks) time.
#include "core/WaitingText.h"
#include "host/Run.h"

#include <algorithm>

namespace gc3::host {

using namespace bundle;
using namespace core;

/// Returns the thread block that must make progress before thread block `index` can step, or none. `reason` is the
/// result of blocked(), which another process can change at any time.
uint32_t Run::waitsFor(uint32_t index, Blocked reason) const {
  const ThreadBlockState &block = blocks[index];
  switch (reason) {
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

std::string Run::describe(uint32_t index, Blocked reason) const {
  const ThreadBlockState &block = blocks[index];
  if (reason == Blocked::Reader) {
    const uint32_t local = index - prog.firstThreadBlock(block.rank);
    const fbs::ThreadBlock &record = prog.rank(block.rank).threadBlocks[local];
    return "rank " + std::to_string(block.rank) + " thread block " + std::to_string(local) +
           " (at its end) waits for rank " + std::to_string(record.send_peer()) + " to read its messages on channel " +
           std::to_string(record.channel());
  }
  const std::string text = describeWaiter(prog, index, block.step, block.tile);
  switch (reason) {
  case Blocked::Staging: return text + "copies of an earlier tile to be read";
  case Blocked::Wait: return text + awaitedStep(*unmetWait(block));
  case Blocked::Message: return text + awaitedMessage(prog, index);
  case Blocked::Slot: return text + awaitedSlot(prog, index);
  case Blocked::Reader:
  case Blocked::No:
  case Blocked::Finished: break;
  }
  return text + "nothing";
}

constexpr size_t maxLines = 16;

std::string Run::explainWaiting(std::span<const uint32_t> own,
                                const std::function<std::string(uint32_t rank)> &describeRank) const {
  std::string text;
  size_t waiting = 0;
  for (const uint32_t rank : own)
    for (uint32_t index = prog.firstThreadBlock(rank); index < prog.firstThreadBlock(rank + 1); ++index) {
      const Blocked reason = blocked(blocks[index]);
      const uint32_t awaited = waitsFor(index, reason);
      if (awaited == Program::none || blocks[awaited].rank == rank || ++waiting > maxLines)
        continue;
      text += "\n  " + describe(index, reason) + ", " + describeRank(blocks[awaited].rank);
    }
  if (waiting > maxLines)
    text += "\n  and " + std::to_string(waiting - maxLines) + " more";
  return text.empty() ? text : "; in program '" + prog.info().name()->str() + "':" + text;
}

std::string Run::explainDeadlock() const {
  enum : uint8_t { Unseen, OnPath, Done };
  std::vector<uint8_t> mark(blocks.size(), Unseen);
  std::vector<uint32_t> cycle;
  for (uint32_t start = 0; start < blocks.size() && cycle.empty(); ++start) {
    std::vector<uint32_t> path;
    uint32_t at = start;
    for (; at != Program::none && mark[at] == Unseen && blocked(blocks[at]) != Blocked::Finished;
         at = waitsFor(at, blocked(blocks[at]))) {
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
  auto add = [&](uint32_t index) {
    text += ++lines <= maxLines ? "\n  " + describe(index, blocked(blocks[index])) : "";
  };
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
    text += heading ? "" : "\n and after it:";
    heading = true;
    add(index);
    ++shown;
  }
  if (size_t all = cycle.size() + waiting; all > shown)
    text += "\n  and " + std::to_string(all - shown) + " more";
  return text;
}

} // namespace gc3::host
