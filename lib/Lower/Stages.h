// SPDX-License-Identifier: Apache-2.0
// The steps of lowering, in their order.
#pragma once

#include "Unfused.h"
#include "gc3/Lower/Lower.h"

namespace gc3::lower {

std::optional<Unfused> expand(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// Leaves out local copies that are made only to be sent or to be added to.
void forwardCopies(Unfused &unfused);

/// Assigns chains, and fuses if `enabled`.
ir::InstructionDag fuse(const Unfused &unfused, bool enabled);

} // namespace gc3::lower
