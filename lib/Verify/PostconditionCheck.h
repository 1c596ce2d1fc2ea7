// SPDX-License-Identifier: Apache-2.0
// The end state against what the collective promises.
#pragma once

#include "Contents.h"
#include "Values.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Verify/Verify.h"

namespace gc3::verify {

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
