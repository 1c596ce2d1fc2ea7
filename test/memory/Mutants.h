// SPDX-License-Identifier: Apache-2.0
// Mutants of a program: each weakens the events of one label by one step.
#pragma once

#include "Program.h"

namespace gc3::memory {

struct Mutant {
  std::string label;     ///< the changed events
  std::string operation; ///< the operation before the change
  std::string change;    ///< `dropped`, or what the operation becomes
  Program program;
};

/// Returns the mutants that drop a fence or barrier, narrow a scope, or weaken an access.
std::vector<Mutant> mutantsOf(const Program &program);
/// Returns a mutant without the fences or barriers of two labels.
Mutant withoutBoth(const Program &program, const std::string &first, const std::string &second);

} // namespace gc3::memory
