// SPDX-License-Identifier: Apache-2.0
// Calls in place of programs that were written for two buffers. Of each tile the first step of a rank that comes to it
// copies the input slots that may be overwritten before they are read; only few tiles have room at a time.
//
// Waiting for room can't deadlock a program that ends for one tile: every step of tile t then can be made before any
// step of tile t + 1, and in that order there is always room. A step that can be made stays so until it is, whatever
// else is made, so that if one order comes to the end all do.
#include "host/Run.h"

namespace gc3::host {

using namespace core;

void Run::startStaging(uint32_t rank, const RankMemory &memory) {
  RankState &state = ranks[rank];
  state.stagedTiles = never;
  if (!memory.inPlace || loaded.inPlace->staged(rank)->slots == 0)
    return;
  state.toStage = loaded.inPlace->staged(rank);
  state.staged = memory.staged;
  state.stagedTileBytes = layout.stagedTileBytes(state.toStage->slots);
  state.stagedTiles = 0;
  for (uint32_t tb = prog.firstThreadBlock(rank); tb < prog.firstThreadBlock(rank + 1); ++tb)
    if (Fifo *outgoing = blocks[tb].outgoing)
      outgoing->sentInEarlierCalls = outgoing->sentBefore;
}

/// The thread block that has to move before the next tile has room, or none: one of the rank that has not ended the
/// tile whose room this was, or one that has yet to fetch a message of that tile.
uint32_t Run::stagingWaitsFor(const RankState &state) const {
  if (state.stagedTiles < layout.stagedTiles())
    return Program::none;
  const uint64_t ended = state.stagedTiles - layout.stagedTiles() + 1; // so many tiles have to be
  const uint32_t rank = static_cast<uint32_t>(&state - ranks.get());
  for (uint32_t tb = prog.firstThreadBlock(rank); tb < prog.firstThreadBlock(rank + 1); ++tb) {
    const ThreadBlockState &block = blocks[tb];
    if (block.instructionCount == 0)
      continue;
    if (block.tile < ended)
      return tb;
    if (lends(block) && !block.outgoing->hasReceived(block.outgoing->sentInEarlierCalls + ended * block.sends))
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
