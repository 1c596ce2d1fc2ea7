// SPDX-License-Identifier: Apache-2.0
#include "gc3/IR/Read.h"
std::vector<gc3::ir::InstructionDag> gc3::ir::readInstructionDag(SourceManager &, Diagnostics &, llvm::StringRef,
                                                                 llvm::StringRef, const ReadOptions &) {
  return {};
}
