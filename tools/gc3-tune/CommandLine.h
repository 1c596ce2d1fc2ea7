// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-tune.
#pragma once

#include "core/Element.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::tune {

/// How candidates are timed.
enum class Timing : uint8_t { Simulator, Host, Cuda, Learned };

struct CommandLine {
  std::vector<std::string> inputs;                          ///< programs in any format that gc3c reads
  std::vector<std::pair<std::string, std::string>> defines; ///< params of .gc3 files
  std::vector<std::string> includeDirs;
  std::string synthesize;         ///< a standard collective; empty: no search for programs
  uint32_t mostCandidates = 1000; ///< combinations of knobs over all inputs
  uint32_t maxThreadBlocks = 108; ///< of a rank
  uint64_t minBytes = 1 << 10, maxBytes = 1 << 30;
  uint64_t factor = 2;
  core::ElementType type = core::ElementType::Float;
  std::string topology; ///< a name, or a path that ends with .json; empty if the times are not simulated
  Timing timing = Timing::Simulator;
  uint32_t rounds = 3; ///< measurements of each call; the shortest one counts
  bool againstNccl = false;
  uint32_t programs = 4; ///< of each collective, at most
  double within = 0.02;  ///< permitted loss
  uint32_t jobs = 0;     ///< threads; 0: one for each processor
  std::string output;    ///< the bundle
  std::string json;      ///< empty: none
  std::string report;    ///< empty: none
  std::string show;      ///< a file of learned times to print; empty: none
  std::string fromLog;   ///< a file of learned times for Timing::Learned
  std::string replay;    ///< a recording, for selectors instead of candidates; empty: none
  uint64_t seed = 0;     ///< of the replay
  uint32_t ranks = 1;    ///< selectors of the replay
  bool listTopologies = false, quiet = false;
};

/// Parses the command line. After an error, prints a message and returns nothing.
std::optional<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace gc3::tune
