// SPDX-License-Identifier: Apache-2.0
// The steps of verification after the search for one execution.
#pragma once

#include "Contents.h"
#include "Execution.h"
#include "HappensBefore.h"
#include "Values.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Verify/Verify.h"

namespace gc3::verify {

/// Reports a deadlock. Follows the waits from the first stuck thread block to a thread block that repeats or has ended.
Finding tellDeadlock(const ir::Program &program, const Connections &connections, const Execution &execution,
                     uint32_t fifoSlots);

/// Findings of kind Race, `options.maxFindings` at most, one for each pair of steps: two steps of a rank that access a
/// slot, at least one of which writes it, where neither is over before the other begins in every execution. The order
/// only selects the first pair of the report. Linear in the slots that steps access, times the cost of
/// HappensBefore::ask, whose searches look at `options.maxSlots` / 8 places and 16 for each step; TooLarge if these do
/// not tell.
void findRaces(const ir::Program &program, const Connections &connections, const Order &order, const Options &options,
               std::vector<Finding> &findings);

/// TooLarge if an output chunk is promised more contributions than hashes count.
void checkCounts(const ir::Program &program, std::vector<Finding> &findings);

/// Compares every slot of every output chunk that the collective names. With exact values the findings say which
/// contributions are missing, extra or doubled. Wanted values are computed once and shared. Linear in output slots and
/// in the contributions of distinct values. Sets Verdict::wholeSlots.
template <typename Domain>
void checkPostcondition(const ir::Program &program, const ir::SlotMap &map,
                        const std::vector<typename Contents<Domain>::Held> &memory, Domain &domain,
                        uint32_t maxFindings, Verdict &verdict);

} // namespace gc3::verify
