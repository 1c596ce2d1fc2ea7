// SPDX-License-Identifier: Apache-2.0
// The output of gc3c --explain. The files of lib/Driver/mistakes hold the texts; test/diagnostics_gallery.py describes
// their format.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/EmbeddedFile.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::driver {

/// Returns the files of lib/Driver/mistakes. A file whose stem is the name of a diagnostic id explains this id.
llvm::ArrayRef<EmbeddedFile> mistakes();

/// Returns the id with this name, or nothing if there is none.
std::optional<DiagId> findId(std::string_view id);

/// Prints one line for each id.
void listIds(llvm::raw_ostream &out);

/// Prints the cause of the id, an example with its message, and the remedy.
void explain(DiagId id, llvm::raw_ostream &out);

/// Returns the ids that a misspelled `word` can mean: the nearest id and, if `word` has at least three characters, all
/// ids that contain `word`.
std::vector<std::string> similarIds(std::string_view word);

} // namespace gc3::driver
