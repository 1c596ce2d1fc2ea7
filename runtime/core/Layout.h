// SPDX-License-Identifier: Apache-2.0
// Computes the layout of a program for one element count: the positions of slots in buffers (formulas in
// docs/bundle.md), the tile size, and the sizes of FIFOs and scratch buffers.
#pragma once

#include "core/Arm.h"
#include "core/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::core {

/// The caller's choices; 0 means the default.
struct LayoutOptions {
  uint32_t slots = 0;        ///< FIFO slots per connection; default: Program.fifo_slots
  uint64_t slotBytes = 0;    ///< bytes of a FIFO slot; default 128 KiB
  uint64_t tileElements = 0; ///< elements of a slot that one tile moves; default: as many as slotBytes allows
  int8_t tile = 0;           ///< Shape::tile; scales slotBytes, unless tileElements is set
  bool operator==(const LayoutOptions &) const = default;
};

/// The positions of the slots of one buffer. Within a block, slots begin `slotElements` apart. The last slots of a
/// block can be short or empty.
struct BufferLayout {
  uint64_t slotsPerBlock = 1;
  uint64_t blockElements = 0;
  uint64_t slotElements = 0;
  uint64_t firstSlot = 0; ///< for a buffer inside another one: the slot of the outer buffer where it begins
  uint64_t elements = 0;  ///< elements of the whole buffer

  /// The beginning of a slot, and how much follows in its block.
  struct Position {
    uint64_t offset;    ///< first element of the slot
    uint64_t slots;     ///< slots from this one to the end of the block
    uint64_t available; ///< elements from `offset` to the end of the block
  };
  Position at(uint64_t slot) const {
    slot += firstSlot;
    uint64_t block = slotsPerBlock == 1 ? slot : slot / slotsPerBlock;
    uint64_t inside = slot - block * slotsPerBlock;
    uint64_t begin = inside * slotElements;
    begin = begin < blockElements ? begin : blockElements;
    return {block * blockElements + begin, slotsPerBlock - inside, blockElements - begin};
  }
};

/// The layout of one rank.
struct RankLayout {
  BufferLayout input, output; ///< as the caller sees them, ignoring aliases
  uint64_t aliasElement = 0;  ///< element of the outer buffer where the inner buffer begins
  uint32_t firstBuffer = 0;   ///< index of the rank's input in Layout::buffers; its output and scratch follow
  uint64_t scratchBytes = 0;
};

struct Layout {
  uint64_t count = 0; ///< elements per block
  size_t elementSize = 0;
  LayoutOptions options;
  uint64_t slotElements = 0;
  uint64_t tileElements = 0;
  uint64_t tiles = 0;
  uint32_t fifoSlots = 0;
  uint64_t fifoBytes = 0;
  uint64_t scratchBytes = 0;
  std::vector<RankLayout> ranks;
  std::vector<BufferLayout> buffers;

  /// Returns the bytes of a FIFO slot in a connection whose largest message has `maxCount` slots of a buffer.
  size_t slotBytes(uint32_t maxCount) const { return wholeLines(maxCount * tileElements * elementSize); }

  /// A call can copy input slots while it runs (Transfers::Staged). stagedTiles() returns the number of tiles for which
  /// a rank has space for such copies. The number is small, so that the copies stay in a cache. stagedTileBytes()
  /// returns the bytes that the copies of `slots` slots take in one tile.
  uint64_t stagedTiles() const { return tiles < 2 ? tiles : 2; }
  size_t stagedTileBytes(uint32_t slots) const { return slotBytes(slots); }

  /// Sets this object to the layout of `program` for `elements` elements per block. Returns an error text if a buffer
  /// exceeds the address space, the FIFOs exceed their limit, or there are too few FIFO slots. Otherwise returns an
  /// empty string.
  std::string compute(const Program &program, uint64_t elements, size_t bytesPerElement, const LayoutOptions &chosen);

private:
  static size_t wholeLines(size_t bytes) { return (bytes + 63) / 64 * 64; }
  std::string computeBuffers(const Program &program);
  std::string computeFifos(const Program &program);
};

/// Returns the slots per block of the input or the output, whichever has more; at least 1.
uint64_t slotsPerBlock(const bundle::fbs::Program &program);

/// Returns the elements of a rank's input or output with `blocks` blocks of `chunks` chunks. `count` is the number of
/// elements per block of the buffer that has more chunks per block. Returns nothing if the result exceeds 2^64 - 1.
std::optional<uint64_t> bufferElements(const bundle::fbs::Program &program, uint32_t blocks, uint32_t chunks,
                                       uint64_t count);

/// Returns the bytes of the largest input or output of any rank. Returns nothing if the result exceeds 2^64 - 1.
std::optional<uint64_t> callBytes(const Program &program, uint64_t count, size_t bytesPerElement);

/// Returns a count for which the largest input or output of any rank has about `bytes` bytes; 0 if they have none.
uint64_t countOf(const Program &program, uint64_t bytes, size_t bytesPerElement);

/// Returns Layout::tileElements. Much cheaper than a layout.
uint64_t tileElementsOf(const Program &program, uint64_t count, size_t bytesPerElement, const LayoutOptions &chosen);

} // namespace gc3::core
