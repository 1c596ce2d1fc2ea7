// SPDX-License-Identifier: Apache-2.0
// Moves the data of one step for one tile, in a loop over runs of slots that are contiguous on all sides. If a call has
// only one tile, messages are packed as densely as buffers, so a whole step is usually a single copy or reduction.
#pragma once

#include "core/Layout.h"
#include "gc3/Common/Opcode.h"
#include "host/Reduce.h"

namespace gc3::host {

/// A buffer of one rank in one call.
struct Operand {
  const core::BufferLayout *layout = nullptr;
  std::byte *base = nullptr;
  bool isForeign = false; ///< the application's buffer in another process
  int process = 0;        ///< the process for which `base` is valid, if this process can't access it; else 0
};

/// The position of one side of a step: slots of a buffer, or data packed in a FIFO slot, or nothing.
struct Side {
  const Operand *operand = nullptr;
  uint64_t index = 0;
  std::byte *packed = nullptr;
  bool isForeign() const { return operand && operand->isForeign; }
  int process() const { return operand ? operand->process : 0; }
};

/// The sides of a step. A message that skips its FIFO slot lacks one side. There is no `incoming` if the sender has
/// already stored the message at the target. There is no `outgoing` if the receiver will fetch it from the target or
/// source.
struct Move {
  common::Opcode opcode;
  uint32_t count; ///< number of slots
  uint64_t tile;
  Side source, target;
  Side accumulator; ///< for a reduce: the previous contents of the target
  Side incoming, outgoing;
  bool streamTarget = false, streamOutgoing = false; ///< writes there bypass the caches
};

class Mover {
public:
  /// `ofCall` must outlive this object.
  Mover(const core::Layout &ofCall, ReduceKernel ofCallType) : layout(ofCall), reduce(ofCallType) {}

  /// Returns false if the system refuses an access to another process.
  bool operator()(const Move &move) const;

private:
  struct Pointers {
    std::byte *source, *target, *accumulator, *incoming, *outgoing;
  };
  bool moveBetweenProcesses(const Move &move, const Pointers &at, uint64_t elements) const;
  void moveRun(const Move &move, const Pointers &at, uint64_t elements) const;
  void reduceRun(const Move &move, const Pointers &at, const std::byte *with, uint64_t elements) const;

  const core::Layout &layout;
  const ReduceKernel reduce;
};

} // namespace gc3::host
