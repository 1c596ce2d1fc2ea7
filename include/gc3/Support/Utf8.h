// SPDX-License-Identifier: Apache-2.0
// UTF-8 characters, and escapes for showing untrusted text.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gc3 {

/// Returns the number of bytes of the UTF-8 character at the start of `text`, or 0 if there is no valid character.
size_t characterLength(llvm::StringRef text);

/// Returns the text with escapes (`\n`, `\x1b`, `\u{202e}`) for control characters, for characters that only arrange
/// others, and for bytes that are not UTF-8. With control characters, which include line breaks, a file could forge
/// output lines or send commands to a terminal.
std::string visible(llvm::StringRef text);

} // namespace gc3
