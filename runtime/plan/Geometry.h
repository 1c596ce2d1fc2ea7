// SPDX-License-Identifier: Apache-2.0
// Computes the fields of a call that determine where slots lie in buffers and messages (docs/bundle.md,
// docs/gpu-internals.md).
#pragma once

#include "core/Program.h"
#include "kernel/Image.h"

#include <string>

namespace gc3::plan {

inline constexpr uint64_t lineBytes = 128; ///< a cache line of a GPU

/// The FIFO slots of all connections that a program uses.
struct SlotSizes {
  kernel::Protocol protocol = kernel::Protocol::Simple;
  uint32_t slots = 8;     ///< FIFO slots of each connection
  uint64_t slotBytes = 0; ///< bytes of a FIFO slot, including flags; a multiple of lineBytes
};

/// Returns the smallest number of bytes that one buffer slot of a message can occupy in a FIFO slot.
uint64_t fewestBytesPerTile(kernel::Protocol protocol);

/// Returns the number of FIFO slots that a receiver returns at a time. It is so small that a sender always has as many
/// slots as the program needs.
uint32_t slotsPerReturn(uint32_t slots, uint32_t needed);

/// Sets the slots and tiles of a call whose buffer slots have `slotElements` elements, and whose messages have at most
/// `maxCount` buffer slots. `tile` is core::Shape::tile, at most 0: a FIFO slot can hold a larger tile. Returns false
/// if a FIFO slot cannot hold the largest message.
bool setTiles(uint64_t slotElements, uint32_t maxCount, uint32_t elementBytes, const SlotSizes &sizes,
              kernel::KernelArgs &call, int8_t tile = 0);

/// Returns whether a call of about `bytes` bytes has other tiles with a `tile` than by default.
bool differs(const core::Program &program, uint64_t bytes, uint32_t elementBytes, const SlotSizes &sizes, int8_t tile);

/// Sets the shapes, slot sizes and tile sizes for `count` elements per block. `elementBytes` is the element size of the
/// kernel's arithmetic, and `tile` as for setTiles(). Returns an empty string, or an error text: a buffer exceeds the
/// address space, there are too few FIFO slots, or a FIFO slot cannot hold the largest message.
std::string setGeometry(const core::Program &program, uint64_t count, uint32_t elementBytes, const SlotSizes &sizes,
                        kernel::KernelArgs &call, int8_t tile = 0);

} // namespace gc3::plan
