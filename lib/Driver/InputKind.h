// SPDX-License-Identifier: Apache-2.0
// Kinds of input files.
#pragma once

#include "gc3/Driver/Options.h"

namespace gc3::driver {

/// Returns the kind of a file with this name. Returns nothing if only the content decides.
std::optional<From> kindBySuffix(llvm::StringRef path);

/// Returns the kind of a file with this content. Returns Source if the content does not show another kind.
From kindByContent(llvm::StringRef content);

/// Returns the kind of a file by its suffix, or by its content if the suffix is unknown. A file that begins as a bundle
/// is a bundle whatever its name.
From kindOf(llvm::StringRef path, llvm::StringRef content);

} // namespace gc3::driver
