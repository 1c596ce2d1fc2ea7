// SPDX-License-Identifier: Apache-2.0
// How a thread waits if other programs use the processors. If it polls or yields, it uses up its turn, and then waits
// for the next one, which takes milliseconds. If it sleeps, the system lets it continue soon after it is woken.
#pragma once

namespace gc3::host {

/// Returns whether other programs use the processors: a yield of this process has recently taken long. Costs one load
/// if none has ever.
bool isMachineBusy();

/// Lets other threads run. Returns false without effect if the machine is busy, so that the caller should sleep.
bool yieldProcessor();

} // namespace gc3::host
