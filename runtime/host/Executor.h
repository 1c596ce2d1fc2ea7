// SPDX-License-Identifier: Apache-2.0
// Runs a call to its end, either fairly on several threads or adversarially on one. Distinguishes a deadlock from slow
// progress.
#pragma once

#include "host/PreparedCall.h"
#include "host/WorkerPool.h"

#include <cstdint>
#include <functional>
#include <span>

namespace gc3::host {

/// Works on call `number`, which all ranks have entered, until the ranks of `own` are finished or the call is stopped.
/// This thread and up to `helpers` threads of the pool each run a fixed part of these ranks. They run other ranks only
/// if they have nothing else to do. `sharing` is the argument of PreparedCall::sweep.
void workOn(PreparedCall &call, uint64_t number, Sharing sharing, std::span<const core::RankRequest> own,
            WorkerPool &pool, uint32_t helpers);

/// Runs `ranks` on the calling thread, one step at a time, in orders that a fair schedule never produces: uniformly
/// random thread blocks, fixed random priorities (so that some starve), the most recently active first, the least
/// recently active first. Changes between these orders at random. The same seed gives the same sequence. If no thread
/// block can step, calls `mayWait`, and ends if it returns false. Returns whether all thread blocks have finished.
bool runAdversarial(Run &run, std::span<const uint32_t> ranks, uint64_t seed, const std::function<bool()> &mayWait);

} // namespace gc3::host
