// SPDX-License-Identifier: Apache-2.0
// Enumerates all executions of a program that the memory model allows.
#pragma once

#include "Model.h"

#include <optional>

namespace gc3::memory {

/// An execution, with the value that each load has read.
struct Execution {
  Choices choices;
  std::vector<int> values; ///< by event
  /// Two conflicting accesses that no order relates, if there are any.
  std::optional<std::pair<uint32_t, uint32_t>> race;
};

struct Result {
  uint32_t executions = 0; ///< number of allowed executions, up to the one that is wrong
  /// An execution in which a checked load reads another value than it must. Otherwise one with a race.
  std::optional<Execution> wrong;
};

/// Checks all executions. Stops at the first in which a checked load reads a wrong value. A race without a wrong value
/// counts as wrong if `checkRaces`.
Result search(const Program &program, bool hasNoThinAir, bool checkRaces);

/// Returns what is wrong with the execution in one line, for example `B1.mover reads slot0 = 0, not 1`.
std::string summaryOf(const Program &program, const Execution &execution);
/// Returns the execution: for each thread its events, with the values of loads.
std::string textOf(const Program &program, const Execution &execution);

} // namespace gc3::memory
