// SPDX-License-Identifier: Apache-2.0
// Tiles are about as large as a FIFO slot allows. All have the same size, except that the last tile can be shorter.
#include "plan/Geometry.h"

#include "core/Layout.h"
#include "kernel/LL128.h"
#include "kernel/LowLatency.h"

#include <algorithm>

namespace gc3::plan {

using namespace kernel;

namespace {

constexpr uint64_t largestBuffer = uint64_t{1} << 62;

/// A unit of `data` bytes takes `stored` bytes of a FIFO slot.
struct Packing {
  uint32_t data, stored;
};

Packing packingOf(Protocol protocol) {
  switch (protocol) {
  case Protocol::Simple: return {sizeof(Pack), sizeof(Pack)};
  case Protocol::LL: return {wordBytes, lineBytesLL};
  case Protocol::LL128: return {2 * lineDataLL128, 2 * lineBytesLL128}; // lines are used in pairs
  }
  __builtin_unreachable();
}

uint64_t divideUp(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

Shape shapeOf(const core::Program &program, uint32_t chunks, uint64_t count, uint64_t slotElements) {
  const uint64_t slots = std::max<uint64_t>(1, uint64_t{chunks} * program.info().subdivision());
  const uint64_t elements = *core::bufferElements(program.info(), 1, chunks, count);
  bool whole = elements == slots * slotElements; // no slot is short, so runs can cross blocks
  return whole ? Shape{UINT64_MAX, UINT32_MAX} : Shape{elements, static_cast<uint32_t>(slots)};
}

} // namespace

uint64_t fewestBytesPerTile(Protocol protocol) {
  return packingOf(protocol).stored;
}

uint32_t slotsPerReturn(uint32_t slots, uint32_t needed) {
  return slots <= needed ? 1 : std::max(1u, std::min(slots / 2, slots - needed + 1));
}

bool setTiles(uint64_t slotElements, uint32_t maxCount, uint32_t elementBytes, const SlotSizes &sizes, KernelArgs &call,
              int8_t tile) {
  call.slotElements = slotElements;
  call.slots = sizes.slots;
  call.slotBytes = sizes.slotBytes;
  const Packing unit = packingOf(sizes.protocol);
  const uint64_t unitElements = unit.data / elementBytes;
  const uint64_t units = sizes.slotBytes / unit.stored / maxCount;
  if (units == 0)
    return false;
  const uint64_t most = std::max<uint64_t>(core::scaled(units, tile), 1) * unitElements;
  call.tiles = divideUp(slotElements, most);
  if (call.tiles == 0)
    call.tileElements = call.tileStride = 0;
  else if (uint64_t even = divideUp(slotElements, call.tiles); call.tiles == 1 && even * elementBytes % unit.data == 0)
    call.tileElements = even, call.tileStride = even * elementBytes;
  else {
    even = divideUp(even, unitElements) * unitElements;
    call.tileElements = even, call.tileStride = even * elementBytes;
    call.tiles = divideUp(slotElements, even);
  }
  return true;
}

bool differs(const core::Program &program, uint64_t bytes, uint32_t elementBytes, const SlotSizes &sizes, int8_t tile) {
  const uint64_t slotElements =
      divideUp(core::countOf(program, bytes, elementBytes), core::slotsPerBlock(program.info()));
  const auto tileElements = [&](int8_t chosen) {
    KernelArgs call{};
    setTiles(slotElements, program.info().max_count(), elementBytes, sizes, call, chosen);
    return call.tileElements;
  };
  return tileElements(tile) != tileElements(0);
}

std::string setGeometry(const core::Program &program, uint64_t count, uint32_t elementBytes, const SlotSizes &sizes,
                        KernelArgs &call, int8_t tile) {
  const std::string name = "program '" + program.info().name()->str() + "'";
  if (sizes.slots < program.info().min_fifo_slots())
    return name + " needs at least " + std::to_string(program.info().min_fifo_slots()) +
           " FIFO slots per connection, " + std::to_string(sizes.slots) + " are configured";
  if (std::optional<uint64_t> bytes = core::callBytes(program, count, elementBytes); !bytes || *bytes > largestBuffer)
    return "a buffer of " + name + " exceeds the address space";
  const uint64_t slotElements = divideUp(count, core::slotsPerBlock(program.info()));
  call.shapes[0] = shapeOf(program, program.info().input_chunks_per_block(), count, slotElements);
  call.shapes[1] = shapeOf(program, program.info().output_chunks_per_block(), count, slotElements);
  call.shapes[2] = {UINT64_MAX, UINT32_MAX};
  if (!setTiles(slotElements, program.info().max_count(), elementBytes, sizes, call, tile))
    return name + " sends " + std::to_string(program.info().max_count()) +
           " slots at once, too many for FIFO slots of " + std::to_string(sizes.slotBytes) + " bytes";
  return {};
}

} // namespace gc3::plan
