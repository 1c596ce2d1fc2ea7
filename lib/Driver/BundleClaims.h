// SPDX-License-Identifier: Apache-2.0
// Checks the claims of a bundle about its programs.
#pragma once

#include "Session.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Verify/Verify.h"

namespace gc3::driver {

/// Compares the bundle's claims about a program with the verdict and with the claims that gc3c itself writes for this
/// program. A runtime relies on these claims. Returns false after an error.
bool checkClaims(Session &session, const imports::BundledProgram &stored, const verify::Verdict &verdict);

} // namespace gc3::driver
