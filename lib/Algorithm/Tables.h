// SPDX-License-Identifier: Apache-2.0
// Prints operations as lists of numbers, two tokens of a program each. Used if one line per operation would be too
// many.
#pragma once

#include "Places.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::algorithm {

/// Returns "input", "output" or "scratch".
const char *nameOf(ir::BufferId buffer);

class Tables {
public:
  void add(const Operation &operation) { pairs.emplace_back(operation.from.rank, operation.to.rank); }
  /// Call after the last add().
  void sort();

  /// Prints the lists of ranks that the numbers of operations refer to, for the beginning of a program.
  void declare(llvm::raw_ostream &out) const;

  /// Prints a loop for the operations of each kind, in the order of kinds.
  void print(llvm::raw_ostream &out, const std::vector<Operation> &operations, unsigned indent) const;

private:
  void printKind(llvm::raw_ostream &out, llvm::ArrayRef<Operation> sameKind, unsigned indent) const;
  uint64_t pairOf(const Operation &operation) const;

  std::vector<std::pair<uint32_t, uint32_t>> pairs; ///< pairs of ranks, from and to
};

} // namespace gc3::algorithm
