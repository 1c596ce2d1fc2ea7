// SPDX-License-Identifier: Apache-2.0
// Catches exceptions, so that none crosses NCCL's C interface.
#pragma once

#include "core/Log.h"
#include "ncclapi/Abi.h"

#include <exception>

namespace gc3::shim {

/// Returns the result of `body`. If `body` throws, memory has run out: logs the exception and returns SystemError.
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
