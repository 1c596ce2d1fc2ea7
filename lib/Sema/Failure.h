// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Support/Diagnostics.h"
#include <string>
#include <vector>

namespace gc3::sema {

/// Why an instruction can't be carried out; the machine knows where.
struct Failure {
  DiagId id = DiagId::Syntax;
  std::string message;
  std::vector<Note> notes = {};
};

/// "chunk 3" or "chunks 3..7"
std::string chunkRange(uint64_t index, uint64_t count);

} // namespace gc3::sema
