// SPDX-License-Identifier: Apache-2.0
// Describes what the blocks of a stopped kernel waited for, in the same words as deadlocks on the host.
#pragma once

#include "plan/ProgramImage.h"

#include <span>
#include <string>

namespace gc3::plan {

/// Returns the description. `reports` has the reports of all thread blocks of `ranks`, in their order.
std::string stallReport(const core::Program &program, core::RankRange ranks, std::span<const kernel::Report> reports);

} // namespace gc3::plan
