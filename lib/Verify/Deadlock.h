// SPDX-License-Identifier: Apache-2.0
// The story of a deadlock.
#pragma once

#include "Execution.h"

namespace gc3::verify {

/// Follows who waits for whom from the first stuck thread block until a thread block comes twice, or has ended.
Finding tellDeadlock(const ir::Program &program, const Connections &connections, const Execution &execution,
                     uint32_t fifoSlots);

} // namespace gc3::verify
