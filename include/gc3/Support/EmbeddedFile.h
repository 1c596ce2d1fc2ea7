// SPDX-License-Identifier: Apache-2.0
// A text file that cmake/GC3Embed.cmake embeds in a library.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gc3 {

struct EmbeddedFile {
  llvm::StringRef name; ///< with the name of its folder: "std/ring.gc3"
  llvm::StringRef text;
};

} // namespace gc3
