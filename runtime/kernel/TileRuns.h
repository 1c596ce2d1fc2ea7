// SPDX-License-Identifier: Apache-2.0
// Divides one tile of a step into runs: slots that are contiguous in the message and in all local buffers.
#pragma once

#include "kernel/Image.h"
#include "kernel/OpcodeFlags.h"

namespace gc3::kernel {

/// One run. In local buffers it has `bytes` bytes, which are fewer than `nominalBytes` if a slot is short. In a message
/// it has `nominalBytes` bytes. The receiver's slot can be longer than the sender's, and the receiver does not know the
/// sender's length. The bytes beyond the sender's data are undefined.
struct TileRun {
  const std::byte *source;
  std::byte *target;
  uint64_t inMessage; ///< bytes of data from the beginning of the message
  uint64_t bytes;
  uint64_t nominalBytes;
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

/// Calls `visit(run)` for all runs of a step in a tile. A run can be a whole step if there is one tile and slots have
/// the same distance in messages as in buffers.
template <uint32_t ElementBytes, typename Visit>
GC3_DEVICE void forEachRun(const KernelArgs &call, const RankBuffers &memory, const StepImage &step, uint64_t tile,
                           Visit visit) {
  const OpcodeFlags flags(step.opcode);
  const uint64_t begin = tile * call.tileElements;
  const bool dense = call.tiles == 1 && call.tileStride == call.slotElements * ElementBytes;
  for (uint32_t done = 0; done < step.count;) {
    uint32_t slots = dense ? step.count - done : 1;
    uint64_t elements = UINT64_MAX;
    auto locate = [&](Buffer buffer, uint32_t slot) {
      const auto kind = static_cast<uint32_t>(buffer);
      SlotPosition place = positionOf(call.shapes[kind], call.slotElements, slot + done);
      slots = slots < place.slots ? slots : place.slots;
      uint64_t left = place.elements > begin ? place.elements - begin : 0;
      elements = elements < left ? elements : left;
      return memory.buffers[kind] + (place.element + begin) * ElementBytes;
    };
    TileRun run{};
    if (flags.reads)
      run.source = locate(step.source, step.sourceSlot);
    if (flags.writes)
      run.target = locate(step.target, step.targetSlot);
    uint64_t nominal = call.slotElements - begin < call.tileElements ? call.slotElements - begin : call.tileElements;
    nominal = dense ? slots * call.slotElements : nominal;
    run.inMessage = done * call.tileStride;
    run.bytes = (elements < nominal ? elements : nominal) * ElementBytes;
    run.nominalBytes = nominal * ElementBytes;
    visit(run);
    done += slots;
  }
}

} // namespace gc3::kernel
