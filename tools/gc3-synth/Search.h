// SPDX-License-Identifier: Apache-2.0
// Searches for algorithms: decides which shapes are tried, and in which order.
#pragma once

#include "Options.h"
#include "Task.h"
#include <functional>

namespace gc3::synth {

enum class Method : uint8_t { Solver, Greedy, Flow };

/// One instance and its result. The result is not complete while the instance is being solved.
struct Trial {
  Task task;
  Shape shape; ///< the requested shape
  Shape cost;  ///< shape of the algorithm that was found; can have fewer steps and rounds
  Outcome outcome;
  double seconds = 0;
  Bounds least;
  bool fewestSteps = false, fewestRounds = false; ///< proven optimal by the bounds
  bool isGreedy = false;                          ///< the greedy search or flow runs, without a requested shape
  Method method = Method::Solver;                 ///< the search that found the algorithm
  uint64_t flowRounds = 0;                        ///< flow proves that no algorithm has fewer rounds
  std::optional<uint64_t> tries;                  ///< tries of the solver so far; set only while it runs
};

struct Result {
  std::vector<Trial> trials;
  std::vector<size_t> found; ///< indices into `trials`
  uint32_t mostSteps = 0;    ///< the most steps that Goal::LeastSteps and Goal::Pareto may try
  bool isComplete = false;   ///< every shape that the goal requires has a definite result
};

/// Runs until the goal is reached, the time is up, or `interrupted` is set. Calls `report` for each trial when it is
/// over, and every `CommandLine::progress` seconds before that. After an error, sets `error` to a message, and returns
/// the trials so far.
Result search(const topology::Topology &topology, const CommandLine &line, const std::atomic<bool> &interrupted,
              const std::function<void(const Trial &)> &report, std::string &error);

} // namespace gc3::synth
