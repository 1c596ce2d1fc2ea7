// SPDX-License-Identifier: Apache-2.0
// Waiting for a counter to come to a number, without hanging where it never does.
#pragma once

#include "kernel/Image.h"

namespace gc3::kernel {

/// A counter, or a signal where that is null, and what it has to come to.
struct Watch {
  const uint64_t *counter;
  uint64_t least;
  Waiting what;
  Scope scope; ///< from which the counter is told
  Signal signal;
};

/// Polls so often before it looks whether to stop: a look at host memory costs more than a microsecond.
inline constexpr uint32_t pollsPerLook = 1024;

/// The counter's value; what was published with it is visible then.
template <typename Machine>
GC3_DEVICE uint64_t read(Machine &machine, const Watch &watch) {
  if constexpr (Machine::hasNetwork)
    if (!watch.counter)
      return machine.readSignal(watch.signal);
  return machine.acquire(watch.counter, watch.scope);
}

/// One thread waits; what was published with the counter is visible to it then. False: told to stop.
template <typename Machine>
GC3_DEVICE bool await(Machine &machine, const Watch &watch, const uint32_t *stop) {
  for (uint32_t polls = 1; read(machine, watch) < watch.least; ++polls) {
    if (polls % pollsPerLook == 0 && machine.look(stop) != 0)
      return false;
    machine.pause();
  }
  return true;
}

} // namespace gc3::kernel
