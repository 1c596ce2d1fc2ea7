// SPDX-License-Identifier: Apache-2.0
// Instruction DAG → GC3-IR: channels, order, thread blocks, waits (GC3 section 4.4).
#pragma once

#include "gc3/IR/GC3IR.h"
#include <optional>

namespace gc3 {
class Diagnostics;
}

namespace gc3::schedule {

struct Options {
  uint32_t fifoSlots = 8;         ///< messages that may be in flight on a connection; at least 1
  uint32_t maxThreadBlocks = 108; ///< per rank; at least 1
  /// A message arrives when all of it has been sent. Where a runtime may cut messages into pieces, a fused instruction
  /// passes on the first one before the last one is read, and waits that the order of messages would imply are kept.
  bool wholeMessages = true;
};

/// The program runs to its end with `fifoSlots` slots per connection whatever the timing: thread blocks follow one
/// global order in which at most that many messages are in flight. Fails with a diagnostic when directives can't be
/// honoured or a rank needs too many thread blocks. Deterministic; ties go to the operation that comes first.
std::optional<ir::Program> schedule(const ir::InstructionDag &dag, const Options &options, Diagnostics &diags);

} // namespace gc3::schedule
