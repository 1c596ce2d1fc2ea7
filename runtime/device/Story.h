// SPDX-License-Identifier: Apache-2.0
// What the blocks of a stopped kernel waited for, in the words of the host's deadlocks.
#pragma once

#include "device/ProgramImage.h"

#include <span>
#include <string>

namespace gc3::device {

/// `reports` are those of all thread blocks of these ranks, in their order.
std::string explainStop(const host::Program &program, RankRange ranks, std::span<const Report> reports);

} // namespace gc3::device
