// SPDX-License-Identifier: Apache-2.0
// Staging for calls in place if the program has two buffers. Before its first step of each tile, a rank copies the
// input slots that can be overwritten before they are read. There is space for only a few tiles at a time.
//
// Waiting for space cannot deadlock a program that terminates with one tile. In the order that completes every step of
// tile t before any step of tile t + 1, there is always space. A step that can run stays able to run whatever other
// steps do, so if one order terminates, all orders do.
#include "host/Run.h"

namespace gc3::host {

using namespace core;

/// Returns whether the rank copies slots.
bool Run::setStaging(uint32_t rank, const RankMemory &memory) {
  RankState &state = ranks[rank];
  if (!memory.inPlace || loaded.inPlace->staged(rank)->slots == 0)
    return false;
  state.toStage = loaded.inPlace->staged(rank);
  state.staged = memory.staged;
  state.stagedTileBytes = layout.stagedTileBytes(state.toStage->slots);
  return true;
}

void Run::startStaging(uint32_t rank, const RankMemory &memory) {
  const bool stages = setStaging(rank, memory);
  ranks[rank].stagedTiles = stages ? 0 : never;
  if (!stages)
    return;
  for (uint32_t tb = prog.firstThreadBlock(rank); tb < prog.firstThreadBlock(rank + 1); ++tb)
    if (Fifo *outgoing = blocks[tb].outgoing)
      outgoing->sentInEarlierCalls = outgoing->sentBefore;
}

/// Returns the thread block that must make progress before there is space for the next tile, or none. The space is
/// occupied by the copies of an earlier tile. The result is a thread block of this rank that has not completed that
/// tile, or a thread block of a peer that still has to fetch a message of that tile.
uint32_t Run::stagingWaitsFor(const RankState &state) const {
  if (state.stagedTiles < layout.stagedTiles())
    return Program::none;
  const uint64_t needed = state.stagedTiles - layout.stagedTiles() + 1; // number of tiles that must be completed
  const uint32_t rank = static_cast<uint32_t>(&state - ranks.get());
  for (uint32_t tb = prog.firstThreadBlock(rank); tb < prog.firstThreadBlock(rank + 1); ++tb) {
    const ThreadBlockState &block = blocks[tb];
    if (block.instructionCount == 0)
      continue;
    if (block.tile < needed)
      return tb;
    if (isFetchedFrom(block) && !block.outgoing->hasReceived(block.outgoing->sentInEarlierCalls + needed * block.sends))
      return prog.connections()[prog.outgoing(tb)].receiver;
  }
  return Program::none;
}

void Run::stageTile(RankState &state) {
  const Operand &input = state.operands[common::inputBuffer];
  std::byte *to = stagedTile(state, state.stagedTiles);
  for (const SlotRange &run : state.toStage->runs) {
    Move copy{common::Opcode::Send, run.count, state.stagedTiles, {}, {}, {}, {}, {}};
    copy.source = {&input, run.begin, nullptr};
    copy.outgoing.packed = to;
    mover(copy);
    to += run.count * layout.tileElements * layout.elementSize;
  }
  ++state.stagedTiles;
}

} // namespace gc3::host
