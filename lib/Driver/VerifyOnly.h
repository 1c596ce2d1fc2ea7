// SPDX-License-Identifier: Apache-2.0
// Implements gc3c --verify-only.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Prints a verdict line for each file of `options.verifyOnly` (format: docs/verification.md), and errors to standard
/// error. Returns the exit code: 1 if a file has an error, else 0.
int verifyFiles(const Options &options);

} // namespace gc3::driver
