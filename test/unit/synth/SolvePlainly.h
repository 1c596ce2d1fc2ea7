// SPDX-License-Identifier: Apache-2.0
// Solves one encoding of a synthesis problem, for tests.
#pragma once

#include "Encoding.h"
#include "gc3/Synth/Synthesis.h"
#include <gtest/gtest.h>

namespace gc3::synth {

/// Solves the encoding directly, without the other strategies of solve(). Checks the algorithm that it finds.
inline Outcome solvePlainly(const topology::Topology &topology, const algorithm::Demand &demand,
                            const Symmetry &symmetry, Shape shape) {
  const Options options;
  const std::unique_ptr<Solver> solver = makeSolver(0, options);
  const Encoding encoding(topology, demand, symmetry, shape, fullLinks(topology, demand, shape.rounds), options,
                          *solver);
  if (!encoding.isPossible())
    return {Verdict::Unsatisfiable, {}};
  const Verdict verdict = solver->solve(Solver::NoLimit);
  if (verdict != Verdict::Satisfiable)
    return {verdict, {}};
  algorithm::Algorithm found = withoutIdleCopies(topology, demand, encoding.decode());
  EXPECT_EQ(findError(topology, demand, found), "");
  EXPECT_EQ(found.steps(), shape.steps);
  EXPECT_LE(found.totalRounds(), shape.rounds);
  return {verdict, std::move(found)};
}

} // namespace gc3::synth
