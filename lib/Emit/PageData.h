// SPDX-License-Identifier: Apache-2.0
// The data of a page, and the files that it is made of.
#pragma once

#include "gc3/Emit/Replay.h"
#include "gc3/Support/EmbeddedFile.h"
#include "gc3/Support/SourceManager.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::emit {

/// Writes one JSON object that is safe inside a script element. docs/pictures.md lists its fields.
void writePageData(llvm::raw_ostream &out, const ir::Program &program, const Replay &replay,
                   const SourceManager &sources);

/// Returns the files of lib/Emit/html. page.html has {{title}}, {{style}}, {{data}} and {{script}} as place holders.
llvm::ArrayRef<EmbeddedFile> pageFiles();

} // namespace gc3::emit
