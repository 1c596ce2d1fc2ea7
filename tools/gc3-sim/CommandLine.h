// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-sim.
#pragma once

#include "Calls.h"
#include "gc3/Driver/Options.h"

#include <optional>
#include <string>
#include <vector>

namespace gc3::sim {

struct CommandLine : CallOptions {
  /// Bundles, or programs in any format that gc3c reads: one, or several to fit.
  std::vector<std::string> inputs;
  std::string topology;                                     ///< a name or a file (ReadTopology.h)
  std::vector<std::pair<std::string, std::string>> defines; ///< params of a .gc3 file
  std::string collective;                                   ///< empty: all collectives
  std::string program;                                      ///< empty: the program for each size; "all": each program
  std::string baseline;                                     ///< "nccl", or a file as `input`; empty: none
  std::vector<std::pair<std::string, std::string>> baselineDefines; ///< params of the baseline's .gc3 file
  bool useSymmetry = true;
  bool criticalPath = false, resources = false;
  std::string json;                      ///< empty: none
  std::string trace;                     ///< empty: none
  std::string report;                    ///< empty: none
  std::string fit;                       ///< measured times; empty: gc3-sim predicts
  std::vector<std::string> fitConstants; ///< empty: all that the times determine. "none": no fit
  std::string output;                    ///< with `fit`: the topology; empty: not written
  std::string ncclTable;                 ///< empty: none. Otherwise gc3-sim reads no input
  bool listTopologies = false, quiet = false;

  bool hasBaselineFile() const { return !baseline.empty() && baseline != "nccl"; }
};

/// Parses the command line. After an error, prints a message and returns nothing.
std::optional<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace gc3::sim
