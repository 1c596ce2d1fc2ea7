// SPDX-License-Identifier: Apache-2.0
// Divides one tile of a step into runs: slots that are contiguous in the message and in all buffers.
#pragma once

#include "kernel/Image.h"
#include "kernel/OpcodeFlags.h"

namespace gc3::kernel {

/// One run. In buffers it has `bytes` bytes, which are fewer than `nominalBytes` if a slot is short. In a message
/// it has `nominalBytes` bytes. The receiver's slot can be longer than the sender's, and the receiver does not know the
/// sender's length. The bytes beyond the sender's data are undefined.
struct TileRun {
  const std::byte *source;
  std::byte *target;
  std::byte *atPeer;  ///< target in the receiver's buffer, if the step sends directly
  uint64_t inMessage; ///< bytes of data from the beginning of the message
  uint64_t bytes;
  uint64_t nominalBytes;
};

/// The part of every buffer slot that a tile moves, in bytes.
struct TilePart {
  uint64_t begin;
  uint64_t bytes; ///< if the slot is not short
};

GC3_DEVICE TilePart tilePart(const KernelArgs &call, uint32_t elementBytes, uint64_t tile) {
  const uint64_t begin = tile * call.tileElements, left = call.slotElements - begin;
  return {begin * elementBytes, (left < call.tileElements ? left : call.tileElements) * elementBytes};
}

/// Slots of a step that are contiguous in the message and in all buffers.
struct SlotRun {
  const std::byte *source;
  std::byte *target;
  std::byte *atPeer;
  uint64_t bytes; ///< from the first slot to the end of its block, in the buffer where these are fewest
  uint32_t slots;
};

/// The first element of a slot in its buffer, and the slots and elements from there to the end of the slot's block.
struct SlotPosition {
  uint64_t element;
  uint32_t slots;
  uint64_t elements;
};

GC3_DEVICE SlotPosition positionOf(const Shape &shape, uint64_t slotElements, uint32_t slot) {
  uint32_t block = slot / shape.slotsPerBlock;
  uint32_t inside = slot - block * shape.slotsPerBlock;
  uint64_t begin = inside * slotElements;
  begin = begin < shape.blockElements ? begin : shape.blockElements;
  return {block * shape.blockElements + begin, shape.slotsPerBlock - inside, shape.blockElements - begin};
}

/// Returns true if consecutive slots have the same distance in messages as in buffers. A run then has several slots.
GC3_DEVICE bool isDense(const KernelArgs &call, uint32_t elementBytes) {
  return call.tiles == 1 && call.tileStride == call.slotElements * elementBytes;
}

/// How messages and operands can skip slots in a kernel. The less a kernel can, the smaller is its code.
enum class Reach : uint8_t {
  Slots,  ///< all messages have slots
  Direct, ///< steps can send directly
  Switch  ///< steps can also access the memory of all ranks over the switch
};

/// Returns the operands of a step whose data it moves.
template <Reach R>
GC3_DEVICE const OpcodeFlags &dataOf(const StepImage &step) {
  return R == Reach::Switch ? step.data : step.flags;
}

/// Returns the run of a step of rank `rank` that begins at its slot `done`.
template <Reach R = Reach::Direct>
GC3_DEVICE SlotRun slotRun(const KernelArgs &call, uint32_t rank, uint32_t elementBytes, const StepImage &step,
                           uint32_t done) {
  SlotRun run{nullptr, nullptr, nullptr, UINT64_MAX, isDense(call, elementBytes) ? step.count - done : 1};
  auto locate = [&](uint32_t memory, Buffer buffer, uint32_t slot) {
    const auto kind = static_cast<uint32_t>(buffer);
    const SlotPosition place = positionOf(call.shapes[kind], call.slotElements, slot + done);
    run.slots = run.slots < place.slots ? run.slots : place.slots;
    const uint64_t bytes = place.elements * elementBytes; // without an end, it wraps to a number above every buffer
    run.bytes = run.bytes < bytes ? run.bytes : bytes;
    return call.memory[memory].buffers[kind] + place.element * elementBytes;
  };
  const OpcodeFlags &moves = dataOf<R>(step);
  const auto owner = [&](uint8_t switched) {
    return R == Reach::Switch && (step.switched & switched) != 0 ? switchMemory : rank;
  };
  if (moves.reads())
    run.source = locate(owner(loadsOverSwitch), step.source, step.sourceSlot);
  if (moves.writes())
    run.target = locate(owner(storesOverSwitch), step.target, step.targetSlot);
  if constexpr (R != Reach::Slots)
    if (moves.sendsDirectly())
      run.atPeer = locate(step.peer, step.peerTarget, step.peerSlot);
  return run;
}

/// Returns the part of a run that a tile moves. `inMessage` is TileRun::inMessage.
GC3_DEVICE TileRun inTile(const SlotRun &run, const TilePart &part, uint64_t inMessage) {
  const uint64_t left = run.bytes > part.begin ? run.bytes - part.begin : 0, nominal = run.slots * part.bytes;
  return {run.source ? run.source + part.begin : nullptr,
          run.target ? run.target + part.begin : nullptr,
          run.atPeer ? run.atPeer + part.begin : nullptr,
          inMessage,
          left < nominal ? left : nominal,
          nominal};
}

/// Returns the run that begins at slot `done` of a step, in a tile. Adds the run's slots to `done`.
template <uint32_t ElementBytes, Reach R = Reach::Direct>
GC3_DEVICE TileRun runAt(const KernelArgs &call, uint32_t rank, const StepImage &step, uint64_t tile, uint32_t &done) {
  const uint32_t first = done;
  const SlotRun run = slotRun<R>(call, rank, ElementBytes, step, first);
  done += run.slots;
  return inTile(run, tilePart(call, ElementBytes, tile), first * call.tileStride);
}

} // namespace gc3::kernel
