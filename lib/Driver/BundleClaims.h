// SPDX-License-Identifier: Apache-2.0
// What a bundle says of its programs, beside what they are.
#pragma once

#include "Session.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Compares what the bundle says of a program with what is known of it, and with what is true of any bundle that has
/// it: a runtime relies on it. False after an error.
bool checkClaims(Session &session, const imports::BundledProgram &stored, const verify::Verdict &verdict);

} // namespace gc3::driver
