// SPDX-License-Identifier: Apache-2.0
// Prints operations as loops over lists of numbers. An operation takes two tokens of the program, its number and a
// comma. The printer uses tables if a program with one line per operation would have too many lines.
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

  /// Prints the lists `from` and `to` of ranks, which the numbers of operations refer to. They must be at the beginning
  /// of the program.
  void declare(llvm::raw_ostream &out) const;

  /// Prints a loop for the operations of each kind, in the order of kinds.
  void print(llvm::raw_ostream &out, const std::vector<Operation> &operations, unsigned indent) const;

private:
  void printKind(llvm::raw_ostream &out, llvm::ArrayRef<Operation> sameKind, unsigned indent) const;
  uint64_t pairOf(const Operation &operation) const;

  /// pairs of source and destination rank; sort() sorts them and removes duplicates
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
};

} // namespace gc3::algorithm
