// SPDX-License-Identifier: Apache-2.0
// Whether a bundle's programs may run at all, and for how long; the settings about that.
#pragma once

#include "core/Request.h"
#include "core/Settings.h"

namespace gc3::core {

/// Whether programs for so many ranks were proven to be well-formed, to end, to have no races, and to compute what
/// their collective promises, if it promises anything; the standard ones do. gc3BundleUnproven names one that was not.
Outcome checkProofs(const bundle::BundleFile &file, uint32_t ranks);

/// Compares what a bundle promises of a program with what the standard collective `standard` promises, in closed form.
/// A program is proven against its own promise alone, but callers of gc3AllReduce rely on that of the collective.
/// `root` is without meaning if the collective has none. The program must have the collective's shape. Returns an empty
/// string, or the difference and a remedy. Linear in rows, runs and contributions.
std::string standardPromiseProblem(const Program &program, const bundle::CheckView &promised,
                                   const common::StandardCollective &standard, uint32_t root);

/// If `allowed` is false, sets it from GC3_ALLOW_UNPROVEN. gc3InvalidArgument: the value is neither 0 nor 1.
Outcome fillAllowUnproven(const Settings &settings, bool &allowed);

/// If `timeoutMs` is 0, sets it from GC3_TIMEOUT_MS; it stays 0 if that is not set. gc3InvalidArgument: the value is
/// not a number below 2^32.
Outcome fillTimeout(const Settings &settings, uint32_t &timeoutMs);

} // namespace gc3::core
