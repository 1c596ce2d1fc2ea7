// SPDX-License-Identifier: Apache-2.0
// Checks that a collective with a standard name keeps the promises of the standard collective. Applications rely on
// these promises.
#pragma once

#include "Session.h"
#include "gc3/IR/ChunkDag.h"

namespace gc3::driver {

/// Checks a program whose collective has a standard name. Its buffers and its postcondition must be those of the
/// standard collective, in place or out of place. Returns false after an error. Linear in output chunks and
/// contributions.
bool checkStandardPromise(Session &session, const ir::ProgramInfo &info);

} // namespace gc3::driver
