// SPDX-License-Identifier: Apache-2.0
// The stages of verification after the search for one execution.
#pragma once

#include "Contents.h"
#include "Execution.h"
#include "HappensBefore.h"
#include "Values.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Verify/Verify.h"

namespace gc3::verify {

/// Describes a deadlock. Follows the waits from the first stuck thread block to a thread block that repeats or has
/// ended.
Finding describeDeadlock(const ir::Program &program, const Connections &connections, const Execution &execution,
                         uint32_t fifoSlots);

/// Appends findings of kind Race, at most `options.maxFindings`, one for each pair of steps that race. Two steps of a
/// rank race if both access a slot, at least one of them writes it, and no order of the two steps holds in every
/// execution. The order only determines which pair is reported first. Linear in the slots that steps access, times the
/// cost of HappensBefore::order. Its searches visit at most `options.maxSlots` / 8 places, plus 16 for each step. If
/// these are not enough, findRaces() appends a finding of kind TooLarge.
void findRaces(const ir::Program &program, const Connections &connections, const Order &order, const Options &options,
               std::vector<Finding> &findings);

/// Appends a finding of kind TooLarge if the postcondition has more contributions to an output chunk than hashes can
/// count.
void checkCounts(const ir::Program &program, std::vector<Finding> &findings);

/// Compares every slot of every output chunk that the collective names. With exact values the findings name missing,
/// extra and doubled contributions. Wanted values are computed once and shared. Linear in output slots and in the
/// contributions of distinct values. Sets Verdict::wholeSlots.
template <typename Domain>
void checkPostcondition(const ir::Program &program, const ir::SlotMap &map,
                        const std::vector<typename Contents<Domain>::Held> &memory, Domain &domain,
                        uint32_t maxFindings, Verdict &verdict);

} // namespace gc3::verify
