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

/// Returns `chosen`, or the value of GC3_ALLOW_UNPROVEN if that is false. gc3InvalidArgument: it is neither 0 nor 1.
Result<bool> allowUnproven(const Settings &settings, bool chosen);

/// Returns `chosen`, or the value of GC3_TIMEOUT_MS if that is 0. Returns 0 if neither is set. gc3InvalidArgument: the
/// value is not a number below 2^32.
Result<uint32_t> timeoutMs(const Settings &settings, uint32_t chosen);

} // namespace gc3::core
