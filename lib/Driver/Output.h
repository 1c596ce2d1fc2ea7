// SPDX-License-Identifier: Apache-2.0
// Writes results, and the rule for make that names their inputs (-MD).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace gc3::driver {

/// Returns true if both paths name the same file, which need not exist yet.
bool sameFile(const std::string &a, const std::string &b);

struct OutputFile {
  std::string path; ///< "-": standard output
  llvm::StringRef bytes;
};

struct WriteFailure {
  std::string path;
  std::string problem;
};

/// Writes all files, or leaves all unchanged: writes each file to a temporary file next to it, and renames the
/// temporary files in order when all are complete. If a path is a symbolic link, replaces its target and keeps the
/// link. A path that is not a regular file (a pipe, a device) cannot be replaced, so its bytes are written directly,
/// after the temporary files and before the renames. Returns nothing on success.
std::optional<WriteFailure> writeOutputs(llvm::ArrayRef<OutputFile> files);

/// Returns a rule for make, as C compilers write it: `target` depends on `files`. With `phony`, each file is also a
/// target without prerequisites, so that make does not stop if the file no longer exists. Paths must not contain line
/// breaks.
std::string dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony);

} // namespace gc3::driver
