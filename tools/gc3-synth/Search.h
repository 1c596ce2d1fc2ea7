// SPDX-License-Identifier: Apache-2.0
// The shapes that are tried, and their order.
#pragma once

#include "Options.h"
#include "Task.h"
#include <functional>

namespace gc3::synth {

/// One instance with its result, or with what is known while it is being solved.
struct Trial {
  Task task;
  Shape shape; ///< the requested shape
  Shape cost;  ///< of the algorithm that was found; it may have fewer steps and rounds
  Outcome outcome;
  double seconds = 0;
  Bounds least;
  bool fewestSteps = false, fewestRounds = false; ///< proven optimal by the bounds
  bool isGreedy = false;
  std::optional<uint64_t> tries; ///< of the solver so far, while it is running
};

struct Result {
  std::vector<Trial> trials;
  std::vector<size_t> found; ///< indices into `trials`
  uint32_t mostSteps = 0;    ///< the most steps that were tried, if several numbers were
  bool isComplete = false;   ///< every trial has a definite result
};

/// Runs until the goal is reached, the time is up, or `interrupted` is set. Calls `report` for each trial when it is
/// over, and every `CommandLine::progress` seconds before that. After an error in the command line, returns an empty
/// result without trials, and the message in `error`.
Result search(const topology::Topology &topology, const CommandLine &line, const std::atomic<bool> &interrupted,
              const std::function<void(const Trial &)> &report, std::string &error);

} // namespace gc3::synth
