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
  uint32_t fifoSlots = 8;         ///< maximum number of messages in flight on a connection; at least 1
  uint32_t maxThreadBlocks = 108; ///< per rank; at least 1
  /// True if a message arrives only after all of it has been sent. False if a runtime can cut messages. Then a fused
  /// instruction can forward the first part of a message before the last part has been read. So the scheduler does not
  /// omit waits that the order of whole messages would imply.
  bool wholeMessages = true;
};

/// Schedules the instructions. The program terminates with `fifoSlots` slots per connection for every timing. The
/// reason is that thread blocks follow one global order, in which a connection never has more than `fifoSlots` messages
/// in flight. Fails with a diagnostic if directives cannot be satisfied or a rank needs too many thread blocks.
/// Deterministic; the earlier operation wins a tie.
std::optional<ir::Program> schedule(const ir::InstructionDag &dag, const Options &options, Diagnostics &diags);

} // namespace gc3::schedule
