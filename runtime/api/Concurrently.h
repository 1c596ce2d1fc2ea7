// SPDX-License-Identifier: Apache-2.0
// Runs functions that can wait for other ranks, such as the joins and calls of several communicators in a group. Other
// processes can have them in another order, so none may wait for the end of another one.
#pragma once

#include "core/Result.h"

#include <functional>
#include <vector>

namespace gc3::api {

/// Calls function(0), ..., function(count - 1), each on its own thread; function(0) on the calling thread. Returns
/// their results, in this order, after all have ended. Exceptions become errors. gc3SystemError: the system refuses a
/// thread, so this function has not run.
std::vector<core::Outcome> concurrently(size_t count, const std::function<core::Outcome(size_t)> &function);

/// Returns the first error; Success if there is none.
core::Outcome firstError(const std::vector<core::Outcome> &outcomes);

} // namespace gc3::api
