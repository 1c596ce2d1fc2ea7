// SPDX-License-Identifier: Apache-2.0
// Runs a call to its end, fairly on several threads or adversarially on one, and tells a deadlock from slowness.
#pragma once

#include "host/PreparedCall.h"
#include "host/WorkerPool.h"

#include <cstdint>
#include <span>
#include <string>

namespace gc3::host {

/// Works on call `number`, which all ranks have entered, until the ranks of `own` are finished or the call is stopped.
/// Their data stays with this thread, and with up to `helpers` of the pool; other ranks are worked on only where
/// nothing else can be done. `sharing` as for Call::sweep.
void workOn(PreparedCall &call, uint64_t number, Sharing sharing, std::span<const core::RankRequest> own,
            WorkerPool &pool, uint32_t helpers);

/// Runs on the calling thread, one step at a time, in orders that a fair schedule would never show: uniformly random
/// thread blocks, fixed random priorities (so that some starve), the most recently active first, the least recently
/// active first; it changes between them at random. The same seed gives the same order. Returns an empty string, or the
/// explanation of a deadlock.
std::string runAdversarial(Run &run, uint64_t seed);

} // namespace gc3::host
