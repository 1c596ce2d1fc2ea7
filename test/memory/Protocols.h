// SPDX-License-Identifier: Apache-2.0
// The synchronization of the kernel (runtime/kernel), as programs for the model.
#pragma once

#include "Program.h"

namespace gc3::memory {

/// A program that models a part of the kernel. Its mutants drop or weaken the events of one label each.
struct Protocol {
  std::string name;
  std::string models; ///< the functions that it models
  Program program;
  bool hasTable; ///< whether docs/memory-mutants.md has a table of its mutants
};

std::vector<Protocol> protocols();

} // namespace gc3::memory
