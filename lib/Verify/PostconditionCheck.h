// SPDX-License-Identifier: Apache-2.0
// The end state against what the collective promises.
#pragma once

#include "Values.h"
#include "gc3/IR/SlotTracker.h"
#include "gc3/Verify/Verify.h"

namespace gc3::verify {

/// Compares every slot of every output chunk that the collective names. With exact values the findings say which
/// contributions are missing, extra or doubled. Wanted values are computed once and shared. Linear in output slots and
/// in the contributions of distinct values.
template <typename Domain>
void checkPostcondition(const ir::Program &program, const ir::SlotMap &map,
                        const std::vector<typename Domain::Value> &memory, Domain &domain, uint32_t maxFindings,
                        std::vector<Finding> &findings);

} // namespace gc3::verify
