// SPDX-License-Identifier: Apache-2.0
// Writes results, and the rule for make that names their inputs (-MD).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace gc3::driver {

/// True if both name one file, or will when it is there.
bool sameFile(const std::string &a, const std::string &b);

struct OutputFile {
  std::string path; ///< "-": standard output
  llvm::StringRef bytes;
};

struct WriteFailure {
  std::string path;
  std::string problem;
};

/// Writes all of the files or leaves them as they were: each goes to a temporary file beside it, and when all are
/// there, they are renamed in order. A symbolic link stays, and its target is replaced. What is not a regular file (a
/// pipe, a device) can't be replaced: it is written as it is, after the others are in their temporary files.
std::optional<WriteFailure> writeOutputs(llvm::ArrayRef<OutputFile> files);

/// Returns a rule for make, as C compilers write it: `target` depends on `files`. With `phony`, each file is a target
/// without prerequisites as well, so that make doesn't stop at one that was removed. No path may have a line break.
std::string dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony);

} // namespace gc3::driver
