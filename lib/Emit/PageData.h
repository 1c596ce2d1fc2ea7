// SPDX-License-Identifier: Apache-2.0
// What a page knows of its program.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/Support/SourceManager.h"
#include <string>

namespace gc3::emit {

/// One JSON object (docs/pictures.md has its fields), fit to stand inside a script element.
std::string pageData(const ir::Program &program, const SourceManager &sources);

} // namespace gc3::emit
