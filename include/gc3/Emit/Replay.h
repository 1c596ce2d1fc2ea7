// SPDX-License-Identifier: Apache-2.0
// Computes the time and the data of each step in one execution of a GC3-IR program.
#pragma once

#include "gc3/Emit/Messages.h"
#include <utility>

namespace gc3::emit {

/// One execution of a program. Every step takes one unit of time, a tick, and begins as soon as the steps that it
/// depends on have ended. These are the previous step of its thread block, the steps that it waits for, and the send of
/// the message that it receives. A sending step also depends on the receive that frees its FIFO slot.
struct Replay {
  Messages messages;
  uint32_t ticks = 0;         ///< duration of the execution
  std::vector<uint32_t> tick; ///< tick in which the step runs, by step

  /// Symbolic values have numbers. Values 0 to `inputs` - 1 are the input slots, ordered by rank and slot. Value
  /// `inputs + i` is the reduction of the two values in sums[i].
  uint32_t inputs = 0;
  std::vector<std::pair<uint32_t, uint32_t>> sums;
  std::vector<uint32_t> valueBegin; ///< step s stores or sends values [valueBegin[s], valueBegin[s + 1]), slot by slot
  std::vector<uint32_t> values;
};

/// Replays a program that Verify has accepted. Linear in its steps, its waits and the slots that it moves.
Replay replay(const ir::Program &program);

} // namespace gc3::emit
