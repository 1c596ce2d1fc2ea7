// SPDX-License-Identifier: Apache-2.0
// A schedule for what --emit=msccl-xml writes.
#pragma once

#include "Session.h"

namespace gc3::driver {

/// A program that ends however the MSCCL runtimes cut its messages, if the format can hold it. Fails with a diagnostic
/// as the scheduler does. Linear in the slots that messages move.
std::optional<ir::Program> scheduleForMsccl(const Options &options, const ir::InstructionDag &dag, Diagnostics &diags);

} // namespace gc3::driver
