// SPDX-License-Identifier: Apache-2.0
// The third IR: the steps of each rank, by thread block (GC3 section 4.3 and figure 6).
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::ir {

/// A wait until thread block `threadBlock` (counted within the rank) has finished its step `step`.
struct Wait {
  uint32_t threadBlock;
  uint32_t step;
};

/// One step of a thread block. Source and destination are slices of the rank's own buffers, in slots.
struct Step {
  Opcode opcode;
  BufferId srcBuffer = 0;
  BufferId dstBuffer = 0;
  uint32_t srcIndex = 0;
  uint32_t dstIndex = 0;
  uint32_t count;
  uint32_t waitBegin = 0; ///< waits [waitBegin, waitBegin + waitCount) of the program
  uint32_t waitCount = 0;
  uint32_t site = 0;

  /// Returns true if source and destination share slots. The step must have both.
  bool readsItsTarget() const {
    return srcBuffer == dstBuffer && uint64_t(srcIndex) < uint64_t(dstIndex) + count &&
           uint64_t(dstIndex) < uint64_t(srcIndex) + count;
  }
};
static_assert(sizeof(Step) == 28);

struct ThreadBlock {
  uint32_t rank;
  uint32_t channel;
  int32_t sendPeer; ///< -1: does not send
  int32_t recvPeer; ///< -1: does not receive
  uint32_t firstStep;
  uint32_t stepCount;
  uint32_t site = None; ///< index in ProgramInfo::sites; None: no place in the source
};

/// A scheduled program. A connection (source, destination, channel) has one sending and one receiving thread block. The
/// k-th send of a connection matches its k-th receive.
struct Program {
  std::shared_ptr<const ProgramInfo> info;
  uint32_t subdivision = 1;              ///< slots per chunk
  uint32_t fifoSlots = 8;                ///< number of slots per connection for which the program was scheduled
  std::vector<uint32_t> bufferSizes;     ///< slots, by rank * bufferCount + buffer; 0 for a buffer inside another
  std::vector<ThreadBlock> threadBlocks; ///< sorted by rank
  std::vector<uint32_t> rankBegin = {0}; ///< rank r has threadBlocks [rankBegin[r], rankBegin[r + 1])
  std::vector<Step> steps;               ///< grouped by thread block
  std::vector<Wait> waits;

  uint32_t ranks() const { return info->collective.ranks; }
  uint32_t bufferSize(uint32_t rank, BufferId buffer) const { return bufferSizes[rank * info->bufferCount() + buffer]; }
};

} // namespace gc3::ir
