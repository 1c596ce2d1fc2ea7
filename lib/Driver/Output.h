// SPDX-License-Identifier: Apache-2.0
// Writing results.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gc3::driver {

/// True if both name one existing file.
bool sameFile(const std::string &a, const std::string &b);

/// Writes all of `bytes` to `path` ("-": standard output) or leaves it as it was: through a temporary file beside it
/// that is renamed; a symbolic link stays, and its target is replaced. Returns an empty string, or what went wrong.
std::string writeOutput(const std::string &path, llvm::StringRef bytes);

} // namespace gc3::driver
