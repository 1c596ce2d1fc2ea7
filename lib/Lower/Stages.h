// SPDX-License-Identifier: Apache-2.0
// The stages of lowering, in order.
#pragma once

#include "Unfused.h"
#include "gc3/Lower/Lower.h"

namespace gc3::lower {

std::optional<Unfused> expand(const ir::ChunkDag &dag, const Options &options, Diagnostics &diags);

/// Leaves out local reduces that are the only readers of a message. The receive combines the message itself.
void mergeReceives(Unfused &unfused);

/// Leaves out local copies whose only reader is a send, or a receive that combines the copy with received data.
void forwardCopies(Unfused &unfused);

/// Assigns chains; also fuses receives with sends if `enabled`.
ir::InstructionDag fuse(const Unfused &unfused, bool enabled);

} // namespace gc3::lower
