// SPDX-License-Identifier: Apache-2.0
// The caller's choices for online selection (docs/selection.md).
#pragma once

#include "core/Result.h"
#include "core/Settings.h"

#include <cstdint>

namespace gc3::core {

struct TuneOptions {
  bool isOnline = false;    ///< choose programs from measured times
  bool keepsBits = false;   ///< calls whose results are rounded keep their fixed program
  bool hasShapes = false;   ///< choose the shapes of programs (core/Arm.h), too
  double explorable = 0.02; ///< exploration may cost this share of the time of all calls; 0: choices are frozen
  bool logsChanges = true;  ///< log changes of choices if GC3_DEBUG is INFO
  std::string file;         ///< path of the file of learned times; empty: none

  /// Returns whether the file gets what this job learns. A job with frozen choices only reads it.
  bool savesTimes() const { return isOnline && explorable > 0 && !file.empty(); }
};

/// Returns the choices of a config's `tune`, `tuneBudget` and `tuneFile`, else those of GC3_TUNE, GC3_TUNE_BUDGET and
/// GC3_TUNE_FILE. Returns gc3InvalidArgument if a value is out of range.
Result<TuneOptions> tuneOptions(const Settings &settings, gc3Tune_t tune, float budget, const char *file);

} // namespace gc3::core
