// SPDX-License-Identifier: Apache-2.0
// Algorithms of given steps and rounds, found or shown not to exist by a solver (SCCL section 3). Demands that combine
// are not for it: they are found as the inverse of one that does not (algorithm::inverted).
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

/// Steps, and rounds of all of them together, at least one each.
struct Shape {
  uint32_t steps = 0, rounds = 0;
};

/// Unknown: the time was up, or it was interrupted. It says nothing about the instance.
enum class Verdict : uint8_t { Satisfiable, Unsatisfiable, Unknown };

struct Options {
  uint32_t seed = 0; ///< what is found depends on the instance and this, and not on how fast the machine is
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool> *interrupted = nullptr; ///< looked at several times a second; null: never

  std::function<void(uint64_t)> tells; ///< told before each try how many there were; may be empty

  bool isOver() const;
};

struct Outcome {
  Verdict verdict = Verdict::Unknown;
  std::optional<algorithm::Algorithm> algorithm; ///< if satisfiable; it has passed whyWrong()
};

/// Chunks times links times steps that a solver is given: about a kilobyte each, more under bounds over many links.
inline constexpr double MaxSends = 1 << 20;
bool isTooLarge(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape);

/// Looks for an algorithm of this shape, for an instance that is not too large. It has gone through the check, and has
/// no idle copies.
Outcome solve(const topology::Topology &topology, const algorithm::Demand &demand, Shape shape, const Options &options);

/// For each link another one back that is alike, so that what runs on the reversed topology runs on `topology` with
/// these in place of links. Nothing if there is none.
std::optional<std::vector<uint32_t>> twinLinks(const topology::Topology &topology);

/// "Z3 4.8.12"
std::string solverVersion();

} // namespace gc3::synth
