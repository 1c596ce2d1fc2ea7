// SPDX-License-Identifier: Apache-2.0
// Accesses of different thread blocks to one slot that nothing orders.
#pragma once

#include "HappensBefore.h"
#include "gc3/Verify/Verify.h"

namespace gc3::verify {

/// Findings of kind Race, `options.maxFindings` at most, one for each pair of steps: two steps of a rank that access a
/// slot, at least one of which writes it, where neither is over before the other begins in every execution. The order
/// decides only which of them is told first. Linear in the slots that steps access, times the cost of
/// HappensBefore::ask, whose searches look at `options.maxSlots` / 8 places and 16 for each step; TooLarge if these do
/// not tell.
void findRaces(const ir::Program &program, const Connections &connections, const Order &order, const Options &options,
               std::vector<Finding> &findings);

} // namespace gc3::verify
