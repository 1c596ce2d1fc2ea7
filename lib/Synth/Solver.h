// SPDX-License-Identifier: Apache-2.0
// The solver interface that synthesis uses: Boolean variables, clauses, linear inequalities over literals.
#pragma once

#include "gc3/Synth/Synthesis.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc3::synth {

/// The number of a variable, counted from 1, or the negative number for its negation.
using Literal = int32_t;

struct Term {
  uint32_t weight;
  Literal literal;
};

class Solver {
public:
  static constexpr uint32_t NoLimit = UINT32_MAX;

  virtual ~Solver() = default;

  virtual Literal newVariable() = 0;
  /// Requires that one of the literals is true.
  virtual void addClause(const std::vector<Literal> &literals) = 0;
  /// Requires that the weights of true literals add up to at most `bound`.
  virtual void addAtMost(const std::vector<Term> &terms, uint32_t bound) = 0;
  /// Returns Unknown after `maxConflicts` conflicts.
  virtual Verdict solve(uint32_t maxConflicts) = 0;
  /// Returns the value of a literal after verdict Satisfiable.
  virtual bool isTrue(Literal literal) const = 0;
};

/// Makes Z3's SAT solver. The seed also chooses between its heuristics. solve() ends early when `options` is over;
/// `options` must outlive the solver.
std::unique_ptr<Solver> makeSolver(uint32_t seed, const Options &options);

} // namespace gc3::synth
