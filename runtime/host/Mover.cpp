// SPDX-License-Identifier: Apache-2.0
// See Mover.h.
#include "host/Mover.h"

#include "host/Copy.h"
#include "host/Memory.h"
#include "host/RemoteMemory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gc3::host {

using namespace core;

using common::Opcode;

bool Mover::operator()(const Move &move) const {
  const bool isRemote = move.incoming.process() != 0 || move.outgoing.process() != 0;
  const uint64_t tile = layout.tileElements, begin = move.tile * tile;
  const size_t size = layout.elementSize;
  const bool oneTile = layout.tiles == 1;
  for (uint64_t done = 0; done < move.count;) {
    uint64_t slots = oneTile ? move.count - done : 1;
    uint64_t elements = UINT64_MAX;
    auto locate = [&](const Side &side) -> std::byte * {
      if (!side.operand)
        return side.packed ? side.packed + done * tile * size : nullptr;
      BufferLayout::Position place = side.operand->layout->at(side.index + done);
      slots = std::min(slots, place.slots);
      // Limits the run to the end of the block. `slotEnd` below limits the run to the end of the tile and of the slot.
      elements = std::min(elements, place.available > begin ? place.available - begin : 0);
      return side.operand->base + (place.offset + begin) * size;
    };
    Pointers at{locate(move.source), locate(move.target), locate(move.accumulator), locate(move.incoming),
                locate(move.outgoing)};
    uint64_t slotEnd = oneTile ? slots * layout.slotElements : std::min(tile, layout.slotElements - begin);
    elements = std::min(elements, slotEnd);
    if (elements != 0) {
      if (!isRemote)
        moveRun(move, at, elements);
      else if (!moveBetweenProcesses(move, at, elements))
        return false;
    }
    done += slots;
  }
  if (move.streamTarget || move.streamOutgoing)
    finishStreams();
  return true;
}

namespace {

/// Bytes of one batch. A reduction runs in batches if its result has two destinations, or one destination that bypasses
/// the caches. A batch fits into the first-level cache, and the processor loads the next batch while it stores this
/// one.
constexpr size_t batchBytes = 2048;

void put(std::byte *to, const std::byte *from, size_t bytes, bool stream) {
  if (to)
    stream ? streamBytes(to, from, bytes) : copyBytes(to, from, bytes);
}

} // namespace

/// Moves a run whose incoming or outgoing message is in another process. Where the data has no place in this process,
/// it goes through a buffer that stays in a cache.
bool Mover::moveBetweenProcesses(const Move &move, const Pointers &at, uint64_t elements) const {
  constexpr size_t bufferBytes = 64 << 10;
  thread_local std::vector<std::byte> buffers(2 * bufferBytes);
  const bool readsToTarget = move.opcode == Opcode::Recv || move.opcode == Opcode::RecvCopySend;
  const bool hasBatches = move.opcode != Opcode::Recv && move.opcode != Opcode::Send;
  const int sender = move.incoming.process(), receiver = move.outgoing.process();
  const size_t size = layout.elementSize;
  for (uint64_t done = 0, count; done < elements; done += count) {
    count = hasBatches ? std::min<uint64_t>(elements - done, bufferBytes / size) : elements;
    const auto after = [&](std::byte *pointer) { return pointer ? pointer + done * size : nullptr; };
    Pointers local{after(at.source), after(at.target), after(at.accumulator), after(at.incoming), after(at.outgoing)};
    if (sender != 0) {
      std::byte *const place = readsToTarget ? local.target : buffers.data();
      if (!readFrom(sender, place, local.incoming, count * size))
        return false;
      local.incoming = readsToTarget ? nullptr : place;
    }
    if (receiver != 0)
      local.outgoing = local.target || move.opcode == Opcode::Send ? nullptr : buffers.data() + bufferBytes;
    moveRun(move, local, count);
    if (receiver != 0) {
      const std::byte *const message = move.opcode == Opcode::Send ? local.source
                                       : local.target              ? local.target
                                                                   : local.outgoing;
      if (!writeTo(receiver, after(at.outgoing), message, count * size))
        return false;
    }
  }
  return true;
}

/// Stores the result of `with` op source at the target and in the outgoing message, except where the pointer is null.
void Mover::reduceRun(const Move &move, const Pointers &at, const std::byte *with, uint64_t elements) const {
  if (!move.streamTarget && !(at.target ? at.outgoing != nullptr : move.streamOutgoing)) {
    reduce(at.target ? at.target : at.outgoing, with, at.source, elements);
    return;
  }
  alignas(cacheLine) std::byte result[batchBytes];
  const size_t size = layout.elementSize;
  for (uint64_t done = 0, count; done < elements; done += count) {
    count = std::min<uint64_t>(elements - done, batchBytes / size);
    const size_t offset = done * size;
    reduce(result, with + offset, at.source + offset, count);
    put(at.target ? at.target + offset : nullptr, result, count * size, move.streamTarget);
    put(at.outgoing ? at.outgoing + offset : nullptr, result, count * size, move.streamOutgoing);
  }
}

void Mover::moveRun(const Move &move, const Pointers &at, uint64_t elements) const {
  const size_t bytes = elements * layout.elementSize;
  switch (move.opcode) {
  case Opcode::Send: put(at.outgoing, at.source, bytes, move.streamOutgoing); break;
  case Opcode::Recv:
    if (at.incoming)
      put(at.target, at.incoming, bytes, move.streamTarget);
    break;
  case Opcode::Copy: // the only opcode whose sides can overlap; in place they are often equal
    if (at.target != at.source)
      std::memmove(at.target, at.source, bytes);
    break;
  case Opcode::RecvCopySend: {
    const std::byte *message = at.incoming ? at.incoming : at.target;
    for (size_t done = 0, batch; done < bytes; done += batch) {
      batch = std::min(bytes - done, batchBytes);
      if (at.incoming)
        put(at.target + done, message + done, batch, move.streamTarget);
      put(at.outgoing ? at.outgoing + done : nullptr, message + done, batch, move.streamOutgoing);
    }
    break;
  }
  case Opcode::Reduce: reduceRun(move, at, at.accumulator, elements); break;
  case Opcode::RecvReduceCopy:
  case Opcode::RecvReduceSend:
  case Opcode::RecvReduceCopySend: reduceRun(move, at, at.incoming, elements); break;
  }
}

} // namespace gc3::host
