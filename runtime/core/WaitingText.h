// SPDX-License-Identifier: Apache-2.0
// Texts that say which thread block waits, and for what.
#pragma once

#include "core/Program.h"

#include <string>

namespace gc3::core {

/// Returns for example "rank 1 thread block 0 step 2 (recv, tile 0) waits for ".
std::string describeWaiter(const Program &program, uint32_t threadBlock, uint32_t step, uint64_t tile);

/// Returns for example "a message from rank 0 on channel 0".
std::string awaitedMessage(const Program &program, uint32_t threadBlock);
/// Returns for example "a free slot to rank 2 on channel 0".
std::string awaitedSlot(const Program &program, uint32_t threadBlock);
/// Return for example "rank 2 to begin this call".
std::string awaitedReceiver(const Program &program, uint32_t threadBlock);
std::string awaitedSender(const Program &program, uint32_t threadBlock);
/// Returns for example "thread block 1 step 3".
std::string awaitedStep(const bundle::fbs::Wait &wait);

} // namespace gc3::core
