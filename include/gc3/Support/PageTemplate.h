// SPDX-License-Identifier: Apache-2.0
// Templates of web pages, with places such as {{title}}.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3 {

/// Writes `text`, and calls `fill` with the name of each place to write its contents. Each "{{" in `text` must have a
/// "}}" after it.
inline void fillPage(llvm::raw_ostream &out, llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> fill) {
  for (size_t open; (open = text.find("{{")) != llvm::StringRef::npos;) {
    const size_t close = text.find("}}", open);
    out << text.take_front(open);
    fill(text.slice(open + 2, close));
    text = text.drop_front(close + 2);
  }
  out << text;
}

} // namespace gc3
