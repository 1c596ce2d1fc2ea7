// SPDX-License-Identifier: Apache-2.0
// GC3-IR → one HTML page that plays the program. The page needs only a browser and loads no other files.
#pragma once

#include <cstddef>

namespace llvm {
class raw_ostream;
}

namespace gc3 {
class SourceManager;
namespace ir {
struct Program;
}
} // namespace gc3

namespace gc3::emit {

/// Writes the page for a program that Verify has accepted, with the source text of its steps. The same program and
/// source give the same bytes.
void writeHtml(llvm::raw_ostream &out, const ir::Program &program, const SourceManager &sources);

/// Returns the size of the page's data: slots of all buffers plus slots that steps move. Browsers show pages of up to
/// about 20000 slots without delay.
size_t htmlSize(const ir::Program &program);

} // namespace gc3::emit
