// SPDX-License-Identifier: Apache-2.0
// gc3c as a function.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Runs the stages up to the one that is asked for, and writes its result. Diagnostics go to standard error.
/// Returns the exit code: 0, or 1 if there was an error; then no output file was written or changed.
int run(const Options &options);

} // namespace gc3::driver
