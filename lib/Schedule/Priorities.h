// SPDX-License-Identifier: Apache-2.0
// Which instruction goes first if both can run.
#pragma once

#include "gc3/IR/InstructionDag.h"

namespace gc3::schedule {

/// For each instruction its place in the order of priority (GC3 section 4.4): least depth first, then the longest path
/// to an end, then program order. Dependencies come before what depends on them, and sends before their receives.
/// Linear.
std::vector<uint32_t> priorities(const ir::InstructionDag &dag);

} // namespace gc3::schedule
