// SPDX-License-Identifier: Apache-2.0
// What a page knows of its program.
#pragma once

#include "gc3/Emit/Replay.h"
#include "gc3/Support/SourceManager.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::emit {

/// Writes one JSON object (docs/pictures.md has its fields), fit to stand inside a script element.
void writePageData(llvm::raw_ostream &out, const ir::Program &program, const Replay &replay,
                   const SourceManager &sources);

} // namespace gc3::emit
