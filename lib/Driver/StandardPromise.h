// SPDX-License-Identifier: Apache-2.0
// Callers of a standard collective rely on its promises.
#pragma once

#include "Session.h"
#include "gc3/IR/ChunkDag.h"

namespace gc3::driver {

/// Checks a program whose collective has a standard name: it must have the buffers and the promises of the standard
/// collective, either in place or out of place. Returns false after an error. Linear in output chunks and
/// contributions.
bool checkStandardPromise(Session &session, const ir::ProgramInfo &info);

} // namespace gc3::driver
