// SPDX-License-Identifier: Apache-2.0
// A collective on a topology, and how its algorithms are found.
#pragma once

#include "gc3/Synth/Synthesis.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gc3::synth {

/// What a program promises, and what the solver is asked for.
struct Task {
  topology::Topology topology;
  std::string name;       ///< of the collective
  std::string implements; ///< it, with arguments
  std::vector<std::string> imports;
  bool hasPlacement = false;
  uint32_t chunks = 0; ///< as the user counts them
  ir::Collective collective;
  algorithm::Demand demand;

  /// How: as it is; as the inverse of another collective on the reversed topology; or that and then the other one.
  enum class Way : uint8_t { Direct, Inverse, InverseThenDirect } way = Way::Direct;
  algorithm::Demand direct; ///< what is solved
  Bounds least;             ///< for an Allreduce: of a Reducescatter and an Allgather together
};

/// What a task is made of, as on the command line.
struct Request {
  std::string collective; ///< a standard one or FILE.gc3:NAME(ARGUMENTS)
  uint32_t chunks = 0, root = 0;
  bool inPlace = false;             ///< of an Alltoall
  std::function<bool()> stops = {}; ///< asked several times a second while it is worked out; may be empty
};

/// How many chunks the collective has at least, on that many ranks; it takes multiples of them.
uint32_t chunkUnit(const std::string &collective, uint32_t ranks);
bool isCustom(const std::string &collective);

/// Nothing after an error, which is then in `error`, or if it was stopped; then `error` is empty.
std::optional<Task> makeTask(const topology::Topology &topology, const Request &request, std::string &error);

/// Whether the shape can be asked for: halves of an Allreduce have as many steps and rounds each.
bool isShapeOf(const Task &task, Shape shape);
/// What it takes of the others is found by `find`; an Allreduce is two of these.
using Finder = std::function<Outcome(const topology::Topology &, const algorithm::Demand &)>;
Outcome findBy(const Task &task, const Finder &find);

} // namespace gc3::synth
