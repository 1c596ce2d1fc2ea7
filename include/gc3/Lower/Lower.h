// SPDX-License-Identifier: Apache-2.0
// Chunk DAG → Instruction DAG: parallel instances, instructions, fusion.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include <optional>

namespace gc3 {
class Diagnostics;
}

namespace gc3::lower {

/// Dependencies number what they connect in 31 bits, and each instruction may take two numbers.
inline constexpr uint64_t MaxInstructions = 3ull << 28;

struct Options {
  bool fuse = true;                      ///< merge receives with the sends of what they received
  uint64_t maxInstructions = 1ull << 25; ///< before fusion, over all ranks; at most MaxInstructions
  /// Operations move 4 times as many slots in all, and have half as many dependencies beyond 8 for each instance.
  uint64_t maxSlots = uint64_t(32) << 20;
};

/// Linear in the slots that the instructions touch. Fails with a diagnostic when the parallel instances need slots too
/// fine to count, or when there are more instructions, or slots moved or read, than allowed.
std::optional<ir::InstructionDag> lower(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// The same program with messages of one slot each: for runtimes that cut longer ones, of which the scheduler could not
/// say how many slots they fill. Every slice of `dag` lies in its buffer. Linear in the slots that instructions touch.
ir::InstructionDag cutMessages(const ir::InstructionDag &dag);

} // namespace gc3::lower
