// SPDX-License-Identifier: Apache-2.0
// Runs a started Run to its end, fairly on several workers or adversarially on one, and tells a deadlock from slowness.
#pragma once

#include "host/Run.h"
#include "host/WorkerPool.h"

#include <cstdint>
#include <string>

namespace gc3::host {

/// Runs with the calling thread and up to `workers - 1` helpers. Returns an empty string, or the explanation of a
/// deadlock.
std::string runFair(Run &run, WorkerPool &pool, uint32_t workers);

/// Runs on the calling thread, one step at a time, in orders that a fair schedule would never show: uniformly random
/// thread blocks, fixed random priorities (so that some starve), the most recently active first, the least recently
/// active first; it changes between them at random. The same seed gives the same order.
std::string runAdversarial(Run &run, uint64_t seed);

} // namespace gc3::host
