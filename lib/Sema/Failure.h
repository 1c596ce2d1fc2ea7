// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Support/Diagnostics.h"
#include <string>
#include <vector>

namespace gc3::sema {

/// The reason why an instruction cannot be executed. The machine adds the place.
struct Failure {
  DiagId id = DiagId::Syntax;
  std::string message;
  std::vector<Note> notes = {};
};

/// Returns "chunk 3" or "chunks 3..7".
std::string chunkRange(uint64_t index, uint64_t count);

} // namespace gc3::sema
