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
  uint32_t slots = 8;     ///< of each connection
  uint64_t slotBytes = 0; ///< including flags; a multiple of lineBytes
};

/// Returns the fewest bytes of a FIFO slot that each slot of a message takes.
uint64_t fewestBytesPerTile(kernel::Protocol protocol);

/// Sets the shapes, slot sizes and tile sizes for `count` elements per block. `elementBytes` is the element size of the
/// kernel's arithmetic. Returns an error text (sizes beyond the address space; slots too small for the largest message,
/// or too few), or an empty string.
std::string setGeometry(const core::Program &program, uint64_t count, uint32_t elementBytes, const SlotSizes &sizes,
                        kernel::KernelArgs &call);

} // namespace gc3::plan
