// SPDX-License-Identifier: Apache-2.0
// A collective on a topology, and how its algorithms are found.
#pragma once

#include "gc3/Synth/Synthesis.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gc3::synth {

/// The promise of a program, and the demand for the solver.
struct Task {
  topology::Topology topology;
  std::string name;       ///< name of the collective
  std::string implements; ///< the collective with its arguments
  std::vector<std::string> imports;
  bool hasPlacement = false;
  uint32_t chunks = 0; ///< number of chunks, as the user counts them
  ir::Collective collective;
  algorithm::Demand demand;

  /// The derivation of an algorithm. Direct: the search finds it. Inverse: it is the inverse of an algorithm of another
  /// collective on the reversed topology. InverseThenDirect: an algorithm of the other collective follows this inverse.
  enum class Derivation : uint8_t { Direct, Inverse, InverseThenDirect } derivation = Derivation::Direct;
  algorithm::Demand direct; ///< the demand that is solved
  Bounds least;             ///< lower bounds; for an Allreduce: of a Reducescatter and an Allgather together
};

/// The description of a task, as on the command line.
struct Request {
  std::string collective; ///< a standard collective, or FILE.gc3:NAME(ARGUMENTS)
  uint32_t chunks = 0, root = 0;
  bool inPlace = false;             ///< only for an Alltoall
  std::function<bool()> stops = {}; ///< called several times a second; true stops makeTask(); may be empty
};

/// Returns the least number of chunks of the collective on `ranks` ranks; other numbers must be multiples of it.
uint32_t chunkUnit(const std::string &collective, uint32_t ranks);
bool isCustom(const std::string &collective);

/// Returns nothing after an error, and sets `error` to a message. Also returns nothing if `stops` returned true;
/// `error` is then empty.
std::optional<Task> makeTask(const topology::Topology &topology, const Request &request, std::string &error);

/// Returns false if the task cannot have the shape. An Allreduce needs even numbers, because its two halves have the
/// same number of steps and of rounds.
bool isShapeOf(const Task &task, Shape shape);
/// Finds an algorithm for a topology and a demand. findBy() calls this function for each part of a task. An Allreduce
/// has two parts.
using Finder = std::function<Outcome(const topology::Topology &, const algorithm::Demand &)>;
Outcome findBy(const Task &task, const Finder &find);

} // namespace gc3::synth
