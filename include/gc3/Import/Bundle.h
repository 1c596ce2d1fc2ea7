// SPDX-License-Identifier: Apache-2.0
// Bundles back to GC3-IR (docs/bundle.md), read through the runtime's own loader. What only the compiler knows,
// directives and source places, is not in a bundle.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Read.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace gc3::imports {

/// A program, and what the bundle says of it without it being part of it.
struct BundledProgram {
  ir::Program program;
  uint32_t verified = 0; ///< verify::Property bits
  uint32_t minSlots = 0;
  bool wholeSlots = true;
  bool inPlace = false;
  uint32_t contributions = 0;
  uint32_t maxCount = 0;
};

/// What is wrong with a bundle; empty if nothing is.
struct BundleProblem {
  DiagId id = DiagId::CannotRead; ///< the id of a budget where that is too small for a bundle that is sound
  std::string message;
  bool empty() const { return message.empty(); }
};

/// The programs of a bundle, which is taken for hostile: what is returned is as sound as what the readers of texts
/// return, within the same budgets. Linear.
BundleProblem readBundle(llvm::StringRef bytes, const ir::ReadOptions &options, std::vector<BundledProgram> &programs);

/// Prints the dispatch table and every program of the bundle at `path`. After a problem what was printed before is to
/// be dropped.
BundleProblem dumpBundle(llvm::raw_ostream &out, const std::string &path, const ir::ReadOptions &options);

} // namespace gc3::imports
