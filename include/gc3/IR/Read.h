// SPDX-License-Identifier: Apache-2.0
// The textual forms of GC3-IR and of the Instruction DAG read back (docs/gc3-ir.md, docs/instruction-dag.md). What was
// printed and read prints the same, and makes the same bundle. Source places are those of the text that was read.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::ir {

inline constexpr uint32_t MaxRanks = 65536;
inline constexpr uint32_t MaxFifoSlots = 65536;

/// Bounds on what a few words of text can ask for.
struct ReadOptions {
  uint64_t maxSlots = uint64_t(32) << 20;  ///< of all buffers of all ranks and programs
  uint64_t maxContributions = 250'000'000; ///< named in the postcondition of a program
  uint64_t maxRuns = uint64_t(16) << 20;   ///< of all reductions of the postcondition that are more than one Run
};

/// All programs of the text. Checks that lines and numbers make sense one by one; whether the program does is Verify's
/// to say. After any error, which is then in `diags`, the result is empty. Linear in the text and in the output chunks.
std::vector<Program> readGC3IR(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                               const ReadOptions &options);

/// As readGC3IR. Checks in addition all that the scheduler relies on: the two ends of each message, the order of the
/// instructions, chains.
std::vector<InstructionDag> readInstructionDag(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                               llvm::StringRef text, const ReadOptions &options);

} // namespace gc3::ir
