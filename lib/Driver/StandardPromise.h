// SPDX-License-Identifier: Apache-2.0
// Who calls a standard collective by its name expects what that promises.
#pragma once

#include "Session.h"
#include "gc3/IR/ChunkDag.h"

namespace gc3::driver {

/// Whether a program that bears the name of a standard collective has its buffers and promises what it promises; an
/// error else. In place or not is the program's choice. Linear in output chunks and contributions.
bool checkStandardPromise(Session &session, const ir::ProgramInfo &info);

} // namespace gc3::driver
