// SPDX-License-Identifier: Apache-2.0
// Which shapes are tried, in which order.
#pragma once

#include "Options.h"
#include "Task.h"
#include <functional>

namespace gc3::synth {

/// One instance, and what came of it, or what is known while it is under way.
struct Trial {
  Task task;
  Shape shape; ///< that was asked for
  Shape cost;  ///< of what was found: it may have fewer steps and rounds
  Outcome outcome;
  double seconds = 0;
  Bounds least;
  bool fewestSteps = false, fewestRounds = false; ///< shown by the bounds: optimal
  bool isGreedy = false;
  std::optional<uint64_t> tries; ///< of the solver until now, while it is under way
};

struct Result {
  std::vector<Trial> trials;
  std::vector<size_t> found; ///< among them
  uint32_t mostSteps = 0;    ///< that were looked at, of several
  bool isComplete = false;   ///< nothing was given up
};

/// Runs to the end of the goal, of the time, or until interrupted. `tell` hears of each trial when it is over, and
/// now and then before. An empty
/// result without trials: `error` says what is wrong with the command line.
Result search(const topology::Topology &topology, const CommandLine &line, const std::atomic<bool> &interrupted,
              const std::function<void(const Trial &)> &tell, std::string &error);

} // namespace gc3::synth
