// SPDX-License-Identifier: Apache-2.0
// GC3-IR → when each step runs, and what it moves: one execution of the program, in units of time.
#pragma once

#include "gc3/Emit/Messages.h"
#include <utility>

namespace gc3::emit {

/// The execution in which every step takes one unit of time, a tick, and begins as soon as it can: when the step before
/// it, what it waits for, and the send of its message have ended, and a FIFO slot has been freed by an ended receive.
struct Replay {
  Messages messages;
  uint32_t ticks = 0;         ///< how long it takes
  std::vector<uint32_t> tick; ///< by step

  /// Values are numbers: first the input slots, by rank and slot; value `inputs + i` is the two of sums[i] combined.
  uint32_t inputs = 0;
  std::vector<std::pair<uint32_t, uint32_t>> sums;
  std::vector<uint32_t> valueBegin; ///< step s stores or sends values [valueBegin[s], valueBegin[s + 1]), slot by slot
  std::vector<uint32_t> values;
};

/// Replays a program that Verify has found to hold. Linear in its steps, waits and the slots that it moves.
Replay replay(const ir::Program &program);

} // namespace gc3::emit
