// SPDX-License-Identifier: Apache-2.0
// Log lines about calls, for GC3_DEBUG.
#pragma once

#include "api/Backend.h"

namespace gc3::api {

/// Logs, for each part of a call, the program that runs it or why no program does. Example: `gc3: rank 3: allreduce 1
/// MiB float sum: program 'ring'`. Call this before Backend::complete(). Does not throw, because other ranks may
/// already wait in the call.
void logCalls(Backend &backend, const Backend::Arrival &arrival) noexcept;

} // namespace gc3::api
