// SPDX-License-Identifier: Apache-2.0
// Determines whether a bundle's programs may run, and the timeout. Reads the settings for both.
#pragma once

#include "core/Request.h"
#include "core/Settings.h"

namespace gc3::core {

/// Checks that all programs for `ranks` ranks were proven to be well-formed, to terminate, to have no races, and to
/// compute what their collective promises. A program needs no proof of its results if its collective promises nothing.
/// Standard collectives always promise something. Returns gc3BundleUnproven with the name of a program that was not
/// proven.
Outcome checkProofs(const bundle::BundleFile &file, uint32_t ranks);

/// Compares what a bundle promises about a program's output with what the standard collective `standard` promises. A
/// program is proven only against the bundle's promise, but callers of gc3AllReduce rely on the collective's promise.
/// `root` is ignored if the collective has none. The program must have the collective's shape. Returns an empty string
/// if the promises are equal, else the difference and a remedy. Takes time linear in rows, runs and contributions.
std::string standardPromiseProblem(const Program &program, const bundle::CheckView &promised,
                                   const common::StandardCollective &standard, uint32_t root);

/// Returns the value of a setting that is 0 or 1, or `byDefault` if it is not set. Returns gc3InvalidArgument if it has
/// another value.
Result<bool> isOne(const Settings &settings, Setting setting, bool byDefault);

/// Returns true if `chosen` is true, else the value of GC3_ALLOW_UNPROVEN. Returns gc3InvalidArgument if the value is
/// neither 0 nor 1.
Result<bool> allowUnproven(const Settings &settings, bool chosen);

/// Returns `chosen`, or the value of GC3_TIMEOUT_MS if `chosen` is 0. Returns 0 if neither is set. Returns
/// gc3InvalidArgument if the value is not a number below 2^32.
Result<uint32_t> timeoutMs(const Settings &settings, uint32_t chosen);

/// Returns GC3_SECRET; empty if it is not set. gc3InvalidArgument: it is too short. The text does not contain it.
Result<std::string> secret(const Settings &settings);

} // namespace gc3::core
