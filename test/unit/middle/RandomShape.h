// SPDX-License-Identifier: Apache-2.0
// Makes random GC3-IR that no compiler would make: random thread blocks, connections, messages, chains and waits. The
// program computes nothing useful, but its structure is valid and it terminates. So it can test the happens-before
// relation.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <random>

namespace gc3::test {

struct ShapeOptions {
  uint32_t ranks = 3;
  uint32_t blocks = 4; ///< thread blocks per rank
  uint32_t channels = 2;
  uint32_t events = 20;    ///< number of events: a local step, or a message with all its hops
  uint32_t mostHops = 6;   ///< largest number of hops of a message
  uint32_t waitsOneIn = 3; ///< one in this many steps waits
};

/// Returns a program that terminates with Program::fifoSlots slots per connection. Its steps copy and reduce single
/// slots of small buffers, so that many steps access the same slots.
ir::Program randomShape(std::mt19937_64 &random, const ShapeOptions &options);

} // namespace gc3::test
