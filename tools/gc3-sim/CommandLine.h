// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-sim.
#pragma once

#include "core/Element.h"
#include "gc3/Driver/Options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::sim {

struct CommandLine {
  std::string input;                                        ///< a bundle, or a program in any format that gc3c reads
  std::string topology;                                     ///< a name or a file (ReadTopology.h)
  std::vector<std::pair<std::string, std::string>> defines; ///< params of a .gc3 file
  std::string collective;                                   ///< empty: all collectives
  std::string program;                                      ///< empty: the program for each size; "all": each program
  uint64_t minBytes = 1 << 10, maxBytes = 64 << 20;
  uint64_t factor = 2;
  uint64_t stepBytes = 0; ///< if not 0, sizes grow by this number instead of by the factor
  core::ElementType type = core::ElementType::Float;
  uint32_t slots = 0;     ///< 0: the program's
  uint64_t slotBytes = 0; ///< 0: the runtime's
  bool criticalPath = false, resources = false;
  std::string json;  ///< empty: none
  std::string trace; ///< empty: none
  bool listTopologies = false, quiet = false;
};

/// Parses the command line. After an error, prints a message and returns nothing.
std::optional<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace gc3::sim
