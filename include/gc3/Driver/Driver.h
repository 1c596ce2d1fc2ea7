// SPDX-License-Identifier: Apache-2.0
// Runs gc3c as a function.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Runs the stages up to the requested one and writes its result. Diagnostics go to standard error. Returns the exit
/// code: 0, or 1 after an error; in that case no output file is written or changed.
int run(const Options &options);

} // namespace gc3::driver
