// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-synth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gc3::synth {

/// What is looked for: by the solver one shape, the fewest steps, or the whole frontier between latency and bandwidth;
/// by the greedy search few rounds.
enum class Goal : uint8_t { Instance, LeastSteps, Pareto, FewRounds };

struct CommandLine {
  std::string topology;   ///< a name, or a path that ends with .json
  std::string collective; ///< a standard one, or FILE.gc3:NAME(ARGUMENTS)
  Goal goal = Goal::Instance;
  uint32_t steps = 0, rounds = 0; ///< of an instance
  uint32_t chunks = 0;            ///< 0: as few as there can be
  uint32_t root = 0;
  bool inPlace = false;     ///< of an Alltoall
  uint32_t extraRounds = 0; ///< k of k-synchronous
  uint32_t maxSteps = 0;    ///< 0: ten beyond the fewest that there can be
  uint32_t timeLimit = 600; ///< seconds
  uint32_t progress = 10;   ///< seconds after which it says that it goes on
  uint32_t tries = 0;       ///< of the greedy search; 0: as many as sizes allow
  uint32_t roundsPerStep = 1;
  uint32_t seed = 0;
  std::string out = "-";
  std::string json; ///< empty: none
  bool listTopologies = false, printTopology = false, quiet = false;
  std::string spelled; ///< the command as typed, for the head of programs
};

/// Nothing after a mistake, which has been told.
std::optional<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace gc3::synth
