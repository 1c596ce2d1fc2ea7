// SPDX-License-Identifier: Apache-2.0
// The output of gc3c --explain. The files of lib/Driver/mistakes hold the texts; test/diagnostics_gallery.py says how.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/EmbeddedFile.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::driver {

/// Returns the files of lib/Driver/mistakes. The stem of a name is the id that the file explains, or no id.
llvm::ArrayRef<EmbeddedFile> mistakes();

/// Returns nothing if no id has this name.
std::optional<DiagId> findId(std::string_view id);

/// Prints one line for each id.
void listIds(llvm::raw_ostream &out);

/// Prints the cause of the id, an example with its message, and the remedy.
void explain(DiagId id, llvm::raw_ostream &out);

/// Returns the ids that `word` can mean: the nearest one, and all that contain it if it has three characters or more.
std::vector<std::string> similarIds(std::string_view word);

} // namespace gc3::driver
