// SPDX-License-Identifier: Apache-2.0
// All that synthesis asks of a solver: Boolean variables, clauses, linear inequalities over literals.
#pragma once

#include "gc3/Synth/Synthesis.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc3::synth {

/// A variable, or its negation as the negative number; variables are numbered from 1.
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
  /// One of these is true.
  virtual void addClause(const std::vector<Literal> &literals) = 0;
  /// The weights of those that are true add up to `bound` at most.
  virtual void addAtMost(const std::vector<Term> &terms, uint32_t bound) = 0;
  /// Gives up after so many conflicts.
  virtual Verdict solve(uint32_t maxConflicts) = 0;
  /// After Satisfiable.
  virtual bool isTrue(Literal literal) const = 0;
};

/// Z3's SAT solver. Seeds choose between its heuristics, too. It watches what `options` says of time and interrupts.
std::unique_ptr<Solver> makeSolver(uint32_t seed, const Options &options);

} // namespace gc3::synth
