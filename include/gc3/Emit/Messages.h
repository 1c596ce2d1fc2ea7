// SPDX-License-Identifier: Apache-2.0
// GC3-IR → the sender and the receiver of each message.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::emit {

/// Partners of each step. Each array is indexed by step; None means that there is no such partner.
struct Messages {
  std::vector<uint32_t> senderOf;   ///< the step that sends the message that this step receives
  std::vector<uint32_t> receiverOf; ///< the step that receives the message that this step sends
  std::vector<uint32_t> freedBy;    ///< the receive that frees the FIFO slot into which this step sends
};

/// Matches the k-th send of every connection with its k-th receive. Verify must have accepted the program. Linear,
/// except for sorting the connections.
Messages matchMessages(const ir::Program &program);

} // namespace gc3::emit
