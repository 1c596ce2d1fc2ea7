// SPDX-License-Identifier: Apache-2.0
// Litmus tests with known verdicts, which validate the model.
#pragma once

#include "Program.h"

namespace gc3::memory {

/// A program whose loads assume the values of one outcome, and whether the memory model allows this outcome.
struct Litmus {
  std::string name;
  bool isAllowed;
  const char *source; ///< where the verdict comes from
  Program program;
};

std::vector<Litmus> litmusTests();

} // namespace gc3::memory
