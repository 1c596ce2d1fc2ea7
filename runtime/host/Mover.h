// SPDX-License-Identifier: Apache-2.0
// Moves the data of one step for one tile: a loop over runs of slots that lie together on all sides. With one tile a
// message is packed as densely as the buffers are, so that a whole step is usually a single copy or reduction.
#pragma once

#include "core/Layout.h"
#include "gc3/Common/Opcode.h"
#include "host/Reduce.h"

namespace gc3::host {

/// A buffer of one rank in one call.
struct Operand {
  const core::BufferLayout *layout = nullptr;
  std::byte *base = nullptr;
};

/// Where one side of a step is: slots of a buffer, or packed into a FIFO slot; or nowhere.
struct Side {
  const Operand *operand = nullptr;
  uint64_t index = 0;
  std::byte *packed = nullptr;
};

/// The sides of a step. A message that is no copy of its own has no side: what was stored at the target already has no
/// `incoming`, what will be fetched from the target or source has no `outgoing`.
struct Move {
  common::Opcode opcode;
  uint32_t count; ///< slots
  uint64_t tile;
  Side source, target;
  Side accumulator; ///< of a reduce: what the target holds before
  Side incoming, outgoing;
  bool streamTarget = false, streamOutgoing = false; ///< past the caches
};

class Mover {
public:
  /// The layout has to stay.
  Mover(const core::Layout &ofCall, ReduceKernel ofCallType) : layout(ofCall), reduce(ofCallType) {}

  void operator()(const Move &move) const;

private:
  struct Pointers {
    std::byte *source, *target, *accumulator, *incoming, *outgoing;
  };
  void moveRun(const Move &move, const Pointers &at, uint64_t elements) const;
  void reduceRun(const Move &move, const Pointers &at, const std::byte *with, uint64_t elements) const;

  const core::Layout &layout;
  const ReduceKernel reduce;
};

} // namespace gc3::host
