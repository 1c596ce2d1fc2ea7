// SPDX-License-Identifier: Apache-2.0
// The results of the checker as text: docs/memory-mutants.md has the tables.
#pragma once

#include "Protocols.h"

namespace gc3::memory {

/// A change of a program, and what goes wrong with it.
struct Finding {
  std::string label, operation, change;
  std::string counterexample; ///< in one line; empty if there is none
};

/// The result for a program. It is proved if `wrong` is empty. The proof does not use the axiom No-Thin-Air. Each
/// counterexample satisfies all axioms.
struct Verdict {
  uint32_t executions;
  std::string wrong;
  std::vector<Finding> mutants; ///< of a proved program

  bool isProved() const { return wrong.empty(); }
};

Verdict verdictOf(const Program &program);

/// Returns the tables in Markdown: the litmus tests, the programs, and the mutants of each.
std::string tables();
/// Returns an execution of each mutant of the protocol, or of the protocol itself if it is not proved.
std::string executionsOf(const Protocol &protocol);

} // namespace gc3::memory
