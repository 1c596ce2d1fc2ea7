// SPDX-License-Identifier: Apache-2.0
// Compresses a postcondition into few clauses with loops. Output chunks whose required contributions differ by a
// constant step become one clause with a loop. Clauses that differ by a constant step become one clause with one more
// loop. The clauses of rows are joined in the same way. A regular postcondition becomes short, whatever produced it.
#pragma once

#include "gc3/IR/Collective.h"
#include <array>
#include <vector>

namespace gc3::ir {

/// The output chunks (rank + i * rankStep, index + i * indexStep) for all values of the loop counters i. The required
/// contributions change by one constant step per iteration of a loop: the step from the clause's `value` to the loop's
/// `value`.
struct Clause {
  struct Loop {
    uint32_t count;
    int64_t rankStep;
    int64_t indexStep;
    uint32_t value; ///< value that the first output chunk of the loop's second iteration requires
  };
  static constexpr size_t maxLoops = 4; ///< one each for chunks, blocks, ranks of a row, and rows

  uint32_t rank;
  uint32_t index;
  uint32_t value;
  uint32_t loopCount = 0;
  std::array<Loop, maxLoops> loops; ///< innermost first
};

/// Finds the clauses. Linear in the output chunks of all rows, and in the runs of the values that they name.
class Compressor {
public:
  explicit Compressor(const Collective &collective) : collective(collective), post(collective.post) {}

  std::vector<Clause> run();
  /// The `count` ranks first + i * step, which have the same requirements as rank `model`. Only `model` has clauses.
  struct Copy {
    uint32_t model, first, step, count;
  };
  const std::vector<Copy> &copies() const { return rowCopies; }

private:
  using Clauses = std::vector<Clause>;
  bool parallel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) const;
  bool sameShape(const Clause &a, const Clause &b) const;
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
