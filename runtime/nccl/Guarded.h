// SPDX-License-Identifier: Apache-2.0
// No exception crosses NCCL's interface.
#pragma once

#include "log/Log.h"
#include "nccl/Abi.h"

#include <exception>

namespace gc3::nccl {

/// What `body` gives; SystemError, and told, where it throws: there is no memory.
template <typename Body>
Result guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &exception) {
    log::tell(exception.what());
    return Result::SystemError;
  }
}

} // namespace gc3::nccl
