// SPDX-License-Identifier: Apache-2.0
// GC3-IR → the time and the data of each step in one execution of the program, in units of time.
#pragma once

#include "gc3/Emit/Messages.h"
#include <utility>

namespace gc3::emit {

/// The execution in which every step takes one unit of time, a tick, and begins as soon as possible: when the previous
/// step of its thread block, its waits and the send of its message have ended, and an ended receive has freed a FIFO
/// slot.
struct Replay {
  Messages messages;
  uint32_t ticks = 0;         ///< duration of the execution
  std::vector<uint32_t> tick; ///< by step

  /// Values are numbers. The first `inputs` values are the input slots, by rank and slot; value `inputs + i` combines
  /// the two values of sums[i].
  uint32_t inputs = 0;
  std::vector<std::pair<uint32_t, uint32_t>> sums;
  std::vector<uint32_t> valueBegin; ///< step s stores or sends values [valueBegin[s], valueBegin[s + 1]), slot by slot
  std::vector<uint32_t> values;
};

/// Replays a program that Verify has accepted. Linear in its steps, its waits and the slots that it moves.
Replay replay(const ir::Program &program);

} // namespace gc3::emit
