// SPDX-License-Identifier: Apache-2.0
// Reads the textual forms of GC3-IR and of the Instruction DAG (docs/gc3-ir.md, docs/instruction-dag.md). A program
// that was printed and read prints identically and makes the same bundle. Source places refer to the text that was
// read.
#pragma once

#include "gc3/IR/GC3IR.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::ir {

inline constexpr uint32_t MaxRanks = 65536;
inline constexpr uint32_t MaxFifoSlots = 65536;

/// Limits on memory and time, because even a short text can describe a large program.
struct ReadOptions {
  uint64_t maxSlots = uint64_t(32) << 20;  ///< slots of all buffers of all ranks and programs
  uint64_t maxContributions = 250'000'000; ///< contributions named in the postcondition of a program
  uint64_t maxRuns = uint64_t(16) << 20;   ///< number of Run records in those values of the postcondition that have
                                           ///< more than one Run
};

/// Reads all programs of the text. Checks lines and numbers one by one; Verify checks the program as a whole. Returns
/// an empty vector after an error, which is in `diags`. Linear in the text and in the output chunks.
std::vector<Program> readGC3IR(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                               const ReadOptions &options);

/// Like readGC3IR(), but also checks everything that the scheduler relies on: the two ends of each message, the order
/// of the instructions, and chains.
std::vector<InstructionDag> readInstructionDag(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                               llvm::StringRef text, const ReadOptions &options);

} // namespace gc3::ir
