// SPDX-License-Identifier: Apache-2.0
// What a build system has to know about an output (-MD).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gc3::driver {

/// A rule for make, as compilers of C write it: `target` depends on `files`. With `phony`, each file is a target
/// without prerequisites as well, so that make doesn't stop at one that was removed. No path may have a line break.
std::string dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony);

} // namespace gc3::driver
