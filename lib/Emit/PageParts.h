// SPDX-License-Identifier: Apache-2.0
// The page without its program: the files of lib/Emit/html, embedded by embed.cmake.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::emit {

/// Page text with {{title}}, {{style}}, {{data}} and {{script}} where these belong.
llvm::StringRef pageTemplate();
llvm::StringRef pageStyle();
/// In the order in which they are to run, as one script.
llvm::ArrayRef<llvm::StringRef> pageScripts();

} // namespace gc3::emit
