// SPDX-License-Identifier: Apache-2.0
// The two steps of lowering.
#pragma once

#include "gc3/IR/InstructionDag.h"
#include "gc3/Lower/Lower.h"

namespace gc3::lower {

/// Instructions before fusion, and which of them made a value that the postcondition wants at the end.
struct Expanded {
  ir::InstructionDag dag;
  std::vector<uint8_t> wantedAtEnd; ///< by instruction
};

std::optional<Expanded> expand(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// Assigns chains, and fuses if `enabled`.
ir::InstructionDag fuse(Expanded &&expanded, bool enabled);

} // namespace gc3::lower
