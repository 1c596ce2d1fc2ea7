// SPDX-License-Identifier: Apache-2.0
// GC3-IR as no compiler would make it: thread blocks, connections, messages, chains and waits thrown together at
// random. It means nothing, but its structure holds and it ends, so what happens before what can be asked.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <random>

namespace gc3::test {

struct ShapeOptions {
  uint32_t ranks = 3;
  uint32_t blocks = 4; ///< of each rank
  uint32_t channels = 2;
  uint32_t events = 20;    ///< local steps, and messages with all that pass them on
  uint32_t mostHops = 6;   ///< of a message
  uint32_t waitsOneIn = 3; ///< steps
};

/// The program ends with as many slots as it says. Its steps copy and reduce single slots of small buffers, so that
/// many of them meet.
ir::Program randomShape(std::mt19937_64 &random, const ShapeOptions &options);

} // namespace gc3::test
