// SPDX-License-Identifier: Apache-2.0
// Finds algorithms with given numbers of steps and rounds, or proves with a solver that there are none (SCCL section
// 3). Does not accept demands with reductions: the caller solves the inverse demand and inverts the result
// (algorithm::inverted).
#pragma once

#include "gc3/Algorithm/Algorithm.h"
#include "gc3/Algorithm/Bounds.h"
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>

namespace gc3::synth {

using algorithm::Bounds;
using algorithm::lowerBounds;

/// Number of steps, and total number of rounds; each step has at least one round.
struct Shape {
  uint32_t steps = 0, rounds = 0;
};

/// Unknown says nothing about the instance: the deadline, an interrupt or a limit of the solver ended the search.
enum class Verdict : uint8_t { Satisfiable, Unsatisfiable, Unknown };

struct Options {
  uint32_t seed = 0; ///< the result depends only on the instance and the seed, not on the speed of the computer
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  uint64_t maxConflicts = UINT64_MAX; ///< total of the conflict limits of all tries; the search then ends with Unknown
  const std::atomic<bool> *interrupted = nullptr; ///< checked several times a second; null: never interrupted

  std::function<void(uint64_t)> reportTry; ///< called before each try with the number of earlier tries; may be empty

  bool isOver() const;
};

struct Outcome {
  Verdict verdict = Verdict::Unknown;
  std::optional<algorithm::Algorithm> algorithm; ///< set if satisfiable; findError() has accepted it
};

/// Maximum product of chunks, links and steps for the solver. Each unit of the product takes about a kilobyte, or more
/// if bounds cover many links.
inline constexpr double MaxSends = 1 << 20;
bool isTooLarge(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape);

/// Searches for an algorithm of this shape. The instance must not be too large. The result has passed the check and has
/// no idle copies.
Outcome solve(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape, const Options &options);

/// Returns, for each link, its twin: a link in the opposite direction with equal properties. If the twins replace the
/// links of an algorithm for the reversed topology, the algorithm runs on `topology`. Returns nothing if some link has
/// no twin, or if the twins do not have the same bounds.
std::optional<std::vector<uint32_t>> twinLinks(const topology::Topology &topology);

/// Returns the name and version of the solver: "Z3 4.8.12".
std::string solverVersion();

} // namespace gc3::synth
