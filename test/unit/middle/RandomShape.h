// SPDX-License-Identifier: Apache-2.0
// Random GC3-IR, unlike that of any compiler: random thread blocks, connections, messages, chains and waits. It
// computes nothing useful, but its structure is valid and it ends, so it tests the happens-before relation.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <random>

namespace gc3::test {

struct ShapeOptions {
  uint32_t ranks = 3;
  uint32_t blocks = 4; ///< number of each rank
  uint32_t channels = 2;
  uint32_t events = 20;    ///< local steps, and messages with all their hops
  uint32_t mostHops = 6;   ///< hops of a message
  uint32_t waitsOneIn = 3; ///< one in this number of steps waits
};

/// Returns a program that ends with its number of slots. Its steps copy and reduce single slots of small buffers, so
/// that many steps access the same slots.
ir::Program randomShape(std::mt19937_64 &random, const ShapeOptions &options);

} // namespace gc3::test
