// SPDX-License-Identifier: Apache-2.0
// Kinds of input files.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Returns the kind of file that the suffix of `path` names, or nothing if the suffix is unknown.
std::optional<From> kindBySuffix(llvm::StringRef path);

/// Returns the kind of file that begins with this content. Returns Source if no other kind is recognized.
From kindByContent(llvm::StringRef content);

/// Returns the kind of a file. A file that begins as a bundle is a bundle, whatever its name. Otherwise the suffix
/// decides, or the content if the suffix is unknown.
From kindOf(llvm::StringRef path, llvm::StringRef content);

} // namespace gc3::driver
