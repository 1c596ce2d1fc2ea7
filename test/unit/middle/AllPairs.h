// SPDX-License-Identifier: Apache-2.0
// What happens before what, worked out by closing the relation: nothing clever, and cubic in steps.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <set>

namespace gc3::test {

class AllPairs {
public:
  /// The program has to stay, and its structure to hold.
  explicit AllPairs(const ir::Program &program);

  /// Whether step `a` of thread block `blockA` (an index in Program::threadBlocks) is over before the other begins.
  bool isBefore(uint32_t blockA, uint32_t a, uint32_t blockB, uint32_t b) const {
    return before[number(blockA, a)][number(blockB, b)];
  }

  /// All pairs of steps that race: `rank block step block step`, thread blocks within the rank and in their order.
  std::set<std::vector<uint32_t>> races() const;

private:
  uint32_t first(uint32_t block) const { return program.rankBegin[program.threadBlocks[block].rank]; }
  uint32_t number(uint32_t block, uint32_t step) const { return program.threadBlocks[block].firstStep + step; }
  void addThreadBlocks();
  void addMessages();
  void close();
  bool race(uint32_t i, uint32_t j) const;

  const ir::Program &program;
  std::vector<std::vector<bool>> before; // [a][b]: a is over before b begins
};

} // namespace gc3::test
