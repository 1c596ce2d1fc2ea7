// SPDX-License-Identifier: Apache-2.0
// GC3-IR → who receives whose message.
#pragma once

#include "gc3/IR/GC3IR.h"

namespace gc3::emit {

/// By step; None where there is none.
struct Messages {
  std::vector<uint32_t> senderOf;   ///< the step whose message it receives
  std::vector<uint32_t> receiverOf; ///< the step that receives its message
  std::vector<uint32_t> freedBy;    ///< the step that frees the FIFO slot for its message: an earlier receive
};

/// Matches the k-th send of every connection with its k-th receive, in a program that Verify has found to hold. Linear,
/// but for sorting the connections.
Messages matchMessages(const ir::Program &program);

} // namespace gc3::emit
