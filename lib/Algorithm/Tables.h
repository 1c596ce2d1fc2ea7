// SPDX-License-Identifier: Apache-2.0
// Operations as lists of numbers, two words of a program each, where lines for each would be too many to read.
#pragma once

#include "Places.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::algorithm {

/// "input", "output" or "scratch".
const char *nameOf(ir::BufferId buffer);

class Tables {
public:
  void add(const Operation &operation) { pairs.emplace_back(operation.from.rank, operation.to.rank); }
  /// After all are added.
  void sort();

  /// The lists that those of operations refer to, for the beginning of a program.
  void declare(llvm::raw_ostream &out) const;

  /// A loop for operations of each kind, in the order of kinds.
  void print(llvm::raw_ostream &out, const std::vector<Operation> &operations, unsigned indent) const;

private:
  void printKind(llvm::raw_ostream &out, llvm::ArrayRef<Operation> alike, unsigned indent) const;
  uint64_t pairOf(const Operation &operation) const;

  std::vector<std::pair<uint32_t, uint32_t>> pairs; ///< of ranks, from and to
};

} // namespace gc3::algorithm
