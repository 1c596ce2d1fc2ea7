// SPDX-License-Identifier: Apache-2.0
// An error code with a text, and a result that is a value or such an error.
#pragma once

#include "gc3.h"
#include "gc3/Common/Result.h"

#include <string>

namespace gc3::core {

/// Success, or an error code with its text. The text is empty on success.
struct Outcome {
  gc3Result_t code = gc3Success;
  std::string text;
  bool ok() const { return code == gc3Success; }
};

template <typename T>
using Result = common::Result<T, Outcome>;

} // namespace gc3::core
