// SPDX-License-Identifier: Apache-2.0
// See Mover.h.
#include "host/Mover.h"

#include <algorithm>
#include <cstring>

namespace gc3::host {

using bundle::Opcode;

void Mover::operator()(const Move &move) const {
  const uint64_t tile = layout.tileElements, begin = move.tile * tile;
  const size_t size = layout.elementSize;
  const bool oneTile = layout.tiles == 1;
  for (uint64_t done = 0; done < move.count;) {
    uint64_t slots = oneTile ? move.count - done : 1;
    uint64_t elements = UINT64_MAX;
    auto locate = [&](const Side &side) -> std::byte * {
      if (!side.operand)
        return side.packed ? side.packed + done * tile * size : nullptr;
      BufferLayout::Place place = side.operand->layout->at(side.index + done);
      slots = std::min(slots, place.slots);
      // What is left of the block after this tile's beginning; the slot's own end is a multiple of slotElements unless
      // the block ends first.
      elements = std::min(elements, place.available > begin ? place.available - begin : 0);
      return side.operand->base + (place.offset + begin) * size;
    };
    Pointers at{locate(move.source), locate(move.target), locate(move.accumulator), locate(move.incoming),
                locate(move.outgoing)};
    uint64_t slotEnd = oneTile ? slots * layout.slotElements : std::min(tile, layout.slotElements - begin);
    elements = std::min(elements, slotEnd);
    if (elements != 0)
      moveRun(move.opcode, at, elements);
    done += slots;
  }
}

void Mover::moveRun(Opcode opcode, const Pointers &at, uint64_t elements) const {
  size_t bytes = elements * layout.elementSize;
  auto copy = [bytes](std::byte *to, const std::byte *from) {
    if (to && from && to != from)
      std::memcpy(to, from, bytes);
  };
  switch (opcode) {
  case Opcode::Send: copy(at.outgoing, at.source); break;
  case Opcode::Recv: copy(at.target, at.incoming); break;
  case Opcode::Copy: std::memmove(at.target, at.source, bytes); break;
  case Opcode::Reduce: reduce(at.target, at.accumulator, at.source, elements); break;
  case Opcode::RecvReduceCopy: reduce(at.target, at.incoming, at.source, elements); break;
  case Opcode::RecvCopySend:
    copy(at.target, at.incoming);
    copy(at.outgoing, at.target);
    break;
  case Opcode::RecvReduceSend: reduce(at.outgoing, at.incoming, at.source, elements); break;
  case Opcode::RecvReduceCopySend:
    reduce(at.target, at.incoming, at.source, elements);
    copy(at.outgoing, at.target);
    break;
  }
}

} // namespace gc3::host
