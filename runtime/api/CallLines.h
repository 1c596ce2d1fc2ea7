// SPDX-License-Identifier: Apache-2.0
// Lines about calls, where GC3_DEBUG asks for them.
#pragma once

#include "api/Backend.h"

namespace gc3::api {

/// Says of each part of a call that is about to be completed which program runs, or why none does:
/// `gc3: rank 3: allreduce 1 MiB float sum: program 'ring'`. Does not throw: others may be waiting in the call.
void informOf(Backend &backend, const Backend::Arrival &arrival) noexcept;

} // namespace gc3::api
