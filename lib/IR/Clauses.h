// SPDX-License-Identifier: Apache-2.0
// A postcondition as few clauses with loops: output chunks whose wanted contributions move evenly from one to the next
// become one clause with a loop; clauses that move evenly become one with one loop more, and so do the rows of ranks.
// What is regular is short, whoever made it.
#pragma once

#include "gc3/IR/Collective.h"
#include <array>
#include <vector>

namespace gc3::ir {

/// The output chunks (rank + i * rankStep, index + i * indexStep) of its loops' counters i. What they must hold moves
/// as the values do from the first chunk to its neighbour in each loop.
struct Clause {
  struct Loop {
    uint32_t count;
    int64_t rankStep;
    int64_t indexStep;
    uint32_t value; ///< of the neighbour
  };
  static constexpr size_t maxLoops = 4; ///< chunks, blocks, ranks of a row, rows

  uint32_t rank;
  uint32_t index;
  uint32_t value;
  uint32_t loopCount = 0;
  std::array<Loop, maxLoops> loops; ///< the innermost first
};

/// Finds the clauses. Linear in the output chunks of all rows, and in the runs of the values that they name.
class Compressor {
public:
  explicit Compressor(const Collective &collective) : collective(collective), post(collective.post) {}

  std::vector<Clause> run();
  /// Ranks (first + i * step) that want what `model` wants, which has clauses.
  struct Copy {
    uint32_t model, first, step, count;
  };
  const std::vector<Copy> &copies() const { return rowCopies; }

private:
  using Clauses = std::vector<Clause>;
  bool parallel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) const;
  bool alike(const Clause &a, const Clause &b) const;
  bool continues(const Clause &a, const Clause &b, const Clause &c) const;
  void join(Clauses &list) const;
  Clauses clausesOf(uint32_t rank) const;
  void addRanks(Clauses &row, const std::vector<uint32_t> &ranks);
  Clauses joinRows(std::vector<Clauses> &rows) const;

  const Collective &collective;
  const Postcondition &post;
  std::vector<Copy> rowCopies;
};

} // namespace gc3::ir
