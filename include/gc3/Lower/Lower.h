// SPDX-License-Identifier: Apache-2.0
// Chunk DAG → Instruction DAG: parallel instances, instructions, fusion.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include <optional>

namespace gc3 {
class Diagnostics;
}

namespace gc3::lower {

/// Maximum number of instructions. An edge has a 31-bit node number, and each instruction can use two of these numbers.
inline constexpr uint64_t MaxInstructions = 3ull << 28;

struct Options {
  bool fuse = true;                      ///< merge each receive with a send of the received data
  uint64_t maxInstructions = 1ull << 25; ///< limit before fusion, over all ranks; at most MaxInstructions
  /// Budget of slots. Instructions may move at most 4 * maxSlots slots in total. They may have at most maxSlots / 2
  /// dependencies, plus 8 for each parallel instance.
  uint64_t maxSlots = uint64_t(32) << 20;
};

/// Returns the instructions of `dag`. Linear in the slots that they touch. Fails with a diagnostic if parallel
/// instances cut the chunks into more slots than 32-bit numbers can count. Also fails if the instructions, the slots
/// that they move, or their dependencies exceed the limits of `options`.
std::optional<ir::InstructionDag> lower(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// Returns the same program with messages of one slot each, for runtimes that cut longer messages. The scheduler cannot
/// know how many FIFO slots a longer message fills there. Every slice of `dag` must lie in its buffer. Linear in the
/// slots that instructions touch.
ir::InstructionDag cutMessages(const ir::InstructionDag &dag);

} // namespace gc3::lower
