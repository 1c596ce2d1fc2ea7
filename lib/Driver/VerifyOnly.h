// SPDX-License-Identifier: Apache-2.0
// gc3c --verify-only.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// What a file of this name holds; nothing where its content says it. A file that begins as a bundle is one whatever
/// its name.
std::optional<From> kindBySuffix(llvm::StringRef path);

/// What a file holds that begins so; a program where nothing says otherwise.
From kindByContent(llvm::StringRef content);

/// Prints a line for each of `options.verifyOnly` (docs/verification.md), and what is wrong to standard error. Returns
/// the exit code: 1 if something is.
int verifyFiles(const Options &options);

} // namespace gc3::driver
