// SPDX-License-Identifier: Apache-2.0
// Reads bundles back to GC3-IR (docs/bundle.md), through the runtime's own loader. A bundle has no directives and no
// source places.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/IR/Read.h"
#include "gc3/IR/Times.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace gc3::imports {

/// A program, and the properties that the bundle states for it.
struct BundledProgram {
  ir::Program program;
  uint32_t verified = 0; ///< verify::Property bits
  uint32_t minSlots = 0;
  bool wholeSlots = true;
  bool inPlace = false;
  uint32_t contributions = 0;
  uint32_t maxCount = 0;
  std::string form;                 ///< empty in bundles before version 1.1
  uint64_t meaning = 0;             ///< ir::meaningOf; 0 for standard collectives, and in bundles before version 1.1
  std::vector<ir::TimePoint> times; ///< empty: unknown
};

/// The fault of a bundle. `message` is empty if there is none.
struct BundleProblem {
  DiagId id = DiagId::CannotRead; ///< the id of a budget if the bundle is valid but exceeds that budget
  std::string message;
  bool empty() const { return message.empty(); }
};

/// Reads the programs of a bundle. The bytes are untrusted: the result has passed the same checks as a result of the
/// text readers, within the same budgets. Linear.
BundleProblem readBundle(llvm::StringRef bytes, const ir::ReadOptions &options, std::vector<BundledProgram> &programs);

/// Prints the dispatch table and every program of the bundle at `path`. After a problem, the caller must discard the
/// printed text.
BundleProblem dumpBundle(llvm::raw_ostream &out, const std::string &path, const ir::ReadOptions &options);

} // namespace gc3::imports
