// SPDX-License-Identifier: Apache-2.0
// Reads traces and compares them with the programs that ran.
#pragma once

#include "Json.h"
#include "core/Program.h"

#include <map>
#include <string>
#include <vector>

namespace gc3::test {

struct TraceEvent {
  std::string phase, name;
  std::string id; ///< of an arrow
  uint64_t process = 0, thread = 0;
  uint64_t begin = 0, end = 0; ///< nanoseconds
  std::map<std::string, std::string> arguments;
};

struct Trace {
  std::string problem; ///< reading error, or empty
  std::vector<TraceEvent> events;

  explicit Trace(const std::string &path);
  /// Returns the events with this phase and name.
  std::vector<TraceEvent> find(const std::string &phase, const std::string &name) const;
};

/// The calls of one group of communicators, which a trace must contain.
struct TracedGroup {
  const core::Program *program = nullptr; ///< program of all calls
  std::vector<uint64_t> calls;            ///< numbers of the calls
  uint64_t firstProcess = 0;
  /// Whether a message has arrived completely before the instruction that receives it begins. False for LL and LL128.
  bool arrivesWhole = true;
  /// Whether the times of all ranks come from one clock, so that times of different ranks can be compared.
  bool oneClock = true;
};

/// Checks the events of a group. Each instruction of each tile must have exactly one event in each call. This event
/// must be within the time of the call, and after the events of all instructions that the program orders before it. The
/// group must have no other events, except an arrow for each message. Returns an error message, or an empty string.
std::string checkTrace(const Trace &trace, const TracedGroup &group);

} // namespace gc3::test
