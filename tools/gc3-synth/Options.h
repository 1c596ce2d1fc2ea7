// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-synth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gc3::synth {

/// The goal of the search. The solver looks for one shape (Instance), the fewest steps, or the whole frontier between
/// latency and bandwidth (Pareto). The greedy search looks for few rounds.
enum class Goal : uint8_t { Instance, LeastSteps, Pareto, FewRounds };

struct CommandLine {
  std::string topology;   ///< a name or a file (ReadTopology.h)
  std::string collective; ///< a standard collective, or FILE.gc3:NAME(ARGUMENTS)
  Goal goal = Goal::Instance;
  uint32_t steps = 0, rounds = 0; ///< shape for Goal::Instance
  uint32_t chunks = 0;            ///< 0: as few as possible
  uint32_t root = 0;
  bool inPlace = false;     ///< only for an Alltoall
  uint32_t extraRounds = 0; ///< k of the paper's k-synchronous algorithms
  uint32_t maxSteps = 0;    ///< 0: ten more than the lower bound
  uint32_t timeLimit = 600; ///< seconds
  uint32_t progress = 10;   ///< seconds between reports of progress
  uint32_t tries = 0;       ///< tries of the greedy search; 0: depends on the size of the problem
  uint32_t roundsPerStep = 1;
  uint32_t seed = 0;
  std::string protocol; ///< of the programs; empty: Simple
  std::string out = "-";
  std::string json; ///< empty: none
  bool listTopologies = false, printTopology = false, quiet = false;
  std::string spelled; ///< the command as typed, for comments in programs
};

/// Parses the command line. After an error, prints a message and returns nothing.
std::optional<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace gc3::synth
