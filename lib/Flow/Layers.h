// SPDX-License-Identifier: Apache-2.0
// The time-expanded network: the graph of a step, once for each step. It decides whether steps with given numbers of
// rounds bring all chunks to the root.
#pragma once

#include "MaxFlow.h"
#include "Shares.h"
#include "StepGraph.h"
#include <optional>

namespace gc3::flow {

/// A condition on the rounds of steps that every algorithm with this number of steps meets:
/// fixed + sum of perRound[s] * rounds[s] >= the number of chunks.
struct Cut {
  uint64_t fixed = 0;             ///< chunks that need not cross the cut
  std::vector<uint64_t> perRound; ///< by step: chunks that can cross the cut in a round

  uint64_t limit(const std::vector<uint32_t> &rounds) const;
};

/// Chunks on an arc of the step's graph.
struct Load {
  uint32_t arc, chunks;
};

struct Attempt {
  /// by step: the loads of arcs, in the order of the arcs; nothing if the attempt failed
  std::optional<std::vector<std::vector<Load>>> loads;
  uint64_t delivered = 0; ///< chunks that reach the root
  std::optional<Cut>
      cut; ///< the condition that the rounds violate; nothing if only a divided bound failed, or if stopped
};

class Layers {
public:
  /// `supply` has the number of chunks that start on each rank; the root has none. Once `stops` returns true, attempts
  /// fail.
  Layers(const StepGraph &graph, const std::vector<uint32_t> &supply, const std::function<bool()> &stops);

  /// Returns true if the network of so many steps takes too much memory: about a gigabyte.
  bool isTooLarge(uint64_t steps) const;
  /// Tries steps with these numbers of rounds. Divided bounds are divided anew up to some times. Fails if there are too
  /// many steps.
  Attempt attempt(const std::vector<uint32_t> &rounds);

  uint64_t chunks() const { return total; }
  /// Number of arcs of all networks so far, and of visits of their nodes, as a measure of the work.
  uint64_t work() const { return workDone; }

private:
  void build(const std::vector<uint32_t> &rounds, const Shares &shares);
  void addSteps(const std::vector<uint32_t> &rounds, const Shares &shares);
  std::vector<std::vector<Load>> loadsOf(const std::vector<uint32_t> &flow) const;
  Cut cutOf(const std::vector<uint8_t> &isBefore) const;
  std::vector<std::vector<Shares::Use>> usesOf(const MaxFlow &found) const;
  uint32_t steps() const { return static_cast<uint32_t>(stepBegin.size()) - 1; }

  const StepGraph &graph;
  const std::vector<uint32_t> &supply;
  const std::function<bool()> &stops;
  uint64_t total = 0, workDone = 0;
  bool fromSink = false;         ///< where the next flow begins
  Network network;               ///< its sink is the root after each step
  std::vector<uint32_t> arcOf;   ///< by arc of the network: the arc of the step's graph, or None
  std::vector<size_t> stepBegin; ///< by step: its first arc; then the number of arcs
};

} // namespace gc3::flow
