// SPDX-License-Identifier: Apache-2.0
// Compiles the text of a .gc3 file to the Chunk DAGs of its programs: imports, types, evaluation, postconditions.
#pragma once

#include "gc3/IR/ChunkDag.h"
#include "gc3/IR/Dispatch.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/SourceManager.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gc3::sema {

struct SemaOptions {
  std::vector<std::pair<std::string, std::string>> defines; ///< `-D name=value`; each name occurs once
  std::vector<std::string> includeDirs; ///< folders to search for imports, after the importing file's folder
  std::string program;                  ///< the only program to build; empty: all
  ir::SizeCheck sizeCheck = ir::SizeCheck::OverlapsAndGaps;
  // Budgets. Each program has its own budget, and all params together have one. If a comment says "all programs", the
  // programs share one budget.
  uint64_t maxSteps = 250'000'000;               ///< number of backward jumps, calls and new list elements
  uint64_t maxOperations = uint64_t(4) << 20;    ///< chunk operations of all programs
  uint64_t maxSlots = uint64_t(32) << 20;        ///< chunks of all buffers of all ranks and programs
  uint64_t maxScratch = uint64_t(4) << 20;       ///< chunks of one scratch buffer of one rank
  uint64_t maxListElements = uint64_t(64) << 20; ///< list elements that exist at one time
  uint64_t maxRuns = uint64_t(16) << 20;         ///< number of ir::Run records in all reductions of a postcondition
  uint32_t maxCallDepth = 1000;
  /// analyzeCollective() calls this function several times a second. If it returns true, the analysis ends with neither
  /// a result nor an error.
  std::function<bool()> stops = {};
};

/// Returns the Chunk DAGs of the programs in the main file, in their order. `name` is the path of the text; imports are
/// first searched in its folder ("-": the working directory). After an error, which is in `diags`, the result is not
/// usable. If `filesRead` is not null, it receives the path of each imported file that was read from disk.
std::vector<ir::ChunkDag> analyze(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                  llvm::StringRef text, const SemaOptions &options,
                                  std::vector<std::string> *filesRead = nullptr);

/// Returns the collective of the first program in `text`, without running the program's body. Callers use it for
/// programs whose steps come from another source. Returns nothing after an error, which is in `diags`. Also returns
/// nothing if `stops` ended the analysis.
std::optional<ir::Collective> analyzeCollective(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                llvm::StringRef text, const SemaOptions &options,
                                                std::vector<std::string> *filesRead = nullptr);

/// Values of knobs (params that list their values): the name, and the text of a `-D` that sets the value.
using Assignment = std::vector<std::pair<std::string, std::string>>;

/// Returns the names of all params of `text`. Returns nothing after an error, which is in `diags`.
std::optional<std::vector<std::string>> listParams(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                   llvm::StringRef text, const SemaOptions &options);

/// Returns the combinations of the values that the knobs of `text` list, the last knob changing fastest. Params that
/// `options.defines` sets are fixed. Leaves out combinations for which such a value is not in the list of its param, or
/// for which a knob has no value; it is an error if none is left. Without
/// `options.defines`, a default that is not listed is an error, too. Without knobs, the result has one empty
/// assignment. Ends after `most` + 1 combinations. Returns nothing after an error, which is in `diags`.
std::optional<std::vector<Assignment>> listAssignments(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                       llvm::StringRef text, const SemaOptions &options, size_t most);

} // namespace gc3::sema
