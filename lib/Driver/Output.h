// SPDX-License-Identifier: Apache-2.0
// Writing results.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gc3::driver {

/// Writes all of `bytes` to `path` ("-": standard output) or leaves it as it was: through a temporary file beside it
/// that is renamed. Returns an empty string, or what went wrong.
std::string writeOutput(const std::string &path, llvm::StringRef bytes);

} // namespace gc3::driver
