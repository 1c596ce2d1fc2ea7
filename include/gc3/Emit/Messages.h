// SPDX-License-Identifier: Apache-2.0
// GC3-IR → the sender and the receiver of each message.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::emit {

/// Indexed by step; None: no such step.
struct Messages {
  std::vector<uint32_t> senderOf;   ///< the step that sends the message it receives
  std::vector<uint32_t> receiverOf; ///< the step that receives its message
  std::vector<uint32_t> freedBy;    ///< the earlier receive that frees the FIFO slot for its message
};

/// Matches the k-th send of every connection with its k-th receive. Verify must have accepted the program. Linear,
/// except for sorting the connections.
Messages matchMessages(const ir::Program &program);

} // namespace gc3::emit
