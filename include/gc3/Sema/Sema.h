// SPDX-License-Identifier: Apache-2.0
// From the text of a .gc3 file to the Chunk DAGs of its programs: imports, types, evaluation, postconditions.
#pragma once

#include "gc3/IR/ChunkDag.h"
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
  std::vector<std::pair<std::string, std::string>> defines; ///< `-D name=value`; a name comes once
  std::vector<std::string> includeDirs; ///< where imports are looked for after the importing file's folder
  std::string program;                  ///< build this one only; empty: all
  // Budgets of one program, and of the params of all files.
  uint64_t maxSteps = 250'000'000;               ///< jumps back, calls and list elements made
  uint64_t maxOperations = uint64_t(4) << 20;    ///< chunk operations of all programs
  uint64_t maxSlots = uint64_t(32) << 20;        ///< chunks of all buffers of all ranks and programs
  uint64_t maxScratch = uint64_t(4) << 20;       ///< chunks of one scratch buffer of one rank
  uint64_t maxListElements = uint64_t(64) << 20; ///< alive at one time
  uint64_t maxRuns = uint64_t(16) << 20;         ///< ir::Run of all reductions of a postcondition
  uint32_t maxCallDepth = 1000;
  /// For analyzeCollective: asked several times a second; true ends it, with neither a result nor an error.
  std::function<bool()> stops = {};
};

/// The Chunk DAGs of the programs of the main file in their order. `name` is where the text came from and where imports
/// are looked for first ("-": the working directory). After any error, which is then in `diags`, the result is of no
/// use. `filesRead`, if given, receives the path of each imported file that was read from disk.
std::vector<ir::ChunkDag> analyze(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                  llvm::StringRef text, const SemaOptions &options,
                                  std::vector<std::string> *filesRead = nullptr);

/// The collective of the first program in `text`, whose body is not run: for programs whose steps come from elsewhere.
/// Nothing after an error, which is then in `diags`, or if it was stopped.
std::optional<ir::Collective> analyzeCollective(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                llvm::StringRef text, const SemaOptions &options,
                                                std::vector<std::string> *filesRead = nullptr);

} // namespace gc3::sema
