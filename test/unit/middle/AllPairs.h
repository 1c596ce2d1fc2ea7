// SPDX-License-Identifier: Apache-2.0
// Computes the happens-before relation as a transitive closure: simple, and cubic in the number of steps.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <set>

namespace gc3::test {

class AllPairs {
public:
  /// `program` must outlive this object, and its structure must be valid.
  explicit AllPairs(const ir::Program &program);

  /// Returns true if step `a` of thread block `blockA` ends before step `b` of thread block `blockB` begins. Thread
  /// blocks are numbers in Program::threadBlocks.
  bool isBefore(uint32_t blockA, uint32_t a, uint32_t blockB, uint32_t b) const {
    return before[number(blockA, a)][number(blockB, b)];
  }

  /// Returns each race as five numbers: the rank, then the thread block and the step of both accesses. Thread blocks
  /// are numbered within the rank, and the lower one comes first.
  std::set<std::vector<uint32_t>> races() const;

private:
  uint32_t first(uint32_t block) const { return program.rankBegin[program.threadBlocks[block].rank]; }
  uint32_t number(uint32_t block, uint32_t step) const { return program.threadBlocks[block].firstStep + step; }
  void addThreadBlocks();
  void addMessages();
  void close();
  bool race(uint32_t i, uint32_t j) const;

  const ir::Program &program;
  std::vector<std::vector<bool>> before; // [a][b]: step a ends before step b begins
};

} // namespace gc3::test
