// SPDX-License-Identifier: Apache-2.0
// The data of a page, and the page template: the files of lib/Emit/html, embedded by embed.cmake.
#pragma once

#include "gc3/Emit/Replay.h"
#include "gc3/Support/SourceManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::emit {

/// Writes one JSON object that is safe inside a script element. docs/pictures.md lists its fields.
void writePageData(llvm::raw_ostream &out, const ir::Program &program, const Replay &replay,
                   const SourceManager &sources);

/// Returns the page text with {{title}}, {{style}}, {{data}} and {{script}} as place holders.
llvm::StringRef pageTemplate();
llvm::StringRef pageStyle();
/// Returns the parts of one script, in the order of execution.
llvm::ArrayRef<llvm::StringRef> pageScripts();

} // namespace gc3::emit
