// SPDX-License-Identifier: Apache-2.0
// Polls a counter until it reaches a value or the host requests a stop.
#pragma once

#include "kernel/Image.h"

namespace gc3::kernel {

/// The condition that a counter, or a signal if `counter` is null, is at least `least`.
struct WaitCondition {
  const uint64_t *counter;
  uint64_t least;
  Waiting what;
  Scope scope; ///< scope at which the counter is published
  Signal signal;
};

/// Number of polls between two checks for a stop. A check reads host memory and takes more than a microsecond.
inline constexpr uint32_t pollsPerStopCheck = 1024;

/// Returns the value of the counter or signal. All writes that were published with the value are then visible to this
/// thread.
template <typename Machine>
GC3_DEVICE uint64_t read(Machine &machine, const WaitCondition &condition) {
  if constexpr (Machine::hasNetwork)
    if (!condition.counter)
      return machine.readSignal(condition.signal);
  return machine.acquire(condition.counter, condition.scope);
}

/// Waits until the condition is met. All writes that were published with the counter or signal are then visible to this
/// thread. Sets `value` to the last value read. Returns false after a stop.
template <typename Machine>
GC3_DEVICE bool await(Machine &machine, const WaitCondition &condition, const uint32_t *stop, uint64_t &value) {
  for (uint32_t polls = 1; (value = read(machine, condition)) < condition.least; ++polls) {
    if (polls % pollsPerStopCheck == 0 && machine.loadStopWord(stop) != 0)
      return false;
    machine.pause();
  }
  return true;
}

} // namespace gc3::kernel
