// SPDX-License-Identifier: Apache-2.0
// Reports to the application the measured times of calls whose program its tuner could choose (gc3.h, gc3TunerTimes_t).
#pragma once

#include "core/Choice.h"
#include "core/Program.h"

namespace gc3::core {

/// What is known about a measured call on a rank.
struct MeasuredCall {
  Request request; ///< its name must be valid
  const Program *program = nullptr;
  uint32_t ranks = 1;
  int rank = 0; ///< -1: all ranks, which share a launch
};

/// Returns whether the application wants the time of a call.
bool wantsTime(const ChoiceOptions &options, const Request &request);
/// Calls the application's function, if it wants the time. Ignores times that are not known (NaN).
void reportTime(const ChoiceOptions &options, const MeasuredCall &call, float microseconds);

} // namespace gc3::core
