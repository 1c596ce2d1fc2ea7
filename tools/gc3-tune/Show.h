// SPDX-License-Identifier: Apache-2.0
// Prints a file of learned times.
#pragma once

#include "select/TuneFile.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::tune {

/// Prints a table for each context, with a row for each bucket and arm. The arms with the most calls come first.
void printLearned(llvm::raw_ostream &out, const select::TuneFile &file);

} // namespace gc3::tune
