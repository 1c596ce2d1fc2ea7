// SPDX-License-Identifier: Apache-2.0
// The claims of a bundle about its programs.
#pragma once

#include "Session.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Compares the bundle's claims about a program with the verdict, and with facts that every bundle of this program must
/// contain, because a runtime relies on them. Returns false after an error.
bool checkClaims(Session &session, const imports::BundledProgram &stored, const verify::Verdict &verdict);

} // namespace gc3::driver
