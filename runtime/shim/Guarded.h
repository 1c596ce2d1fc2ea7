// SPDX-License-Identifier: Apache-2.0
// No exception crosses NCCL's interface.
#pragma once

#include "core/Log.h"
#include "ncclapi/Abi.h"

#include <exception>

namespace gc3::shim {

/// Returns what `body` returns. If it throws, there is no memory: logs that, and returns SystemError.
template <typename Body>
ncclapi::Result guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &exception) {
    core::log(exception.what());
    return ncclapi::Result::SystemError;
  }
}

} // namespace gc3::shim
