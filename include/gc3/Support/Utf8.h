// SPDX-License-Identifier: Apache-2.0
// Text that others wrote, for people to look at.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gc3 {

/// The bytes of the UTF-8 character that begins `text`; 0 if none does.
size_t characterLength(llvm::StringRef text);

/// The text with escapes (`\n`, `\x1b`, `\u{202e}`) for what would not be seen: line breaks and other control
/// characters, by which a file could write lines of its own or give orders to a terminal, characters that only arrange
/// others, and bytes that are not UTF-8.
std::string visible(llvm::StringRef text);

} // namespace gc3
