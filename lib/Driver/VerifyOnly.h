// SPDX-License-Identifier: Apache-2.0
// gc3c --verify-only.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Prints a line for each of `options.verifyOnly` (docs/verification.md), and what is wrong to standard error. Returns
/// the exit code: 1 if something is.
int verifyFiles(const Options &options);

} // namespace gc3::driver
