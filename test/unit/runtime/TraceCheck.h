// SPDX-License-Identifier: Apache-2.0
// Reads traces, and compares them with the programs that ran.
#pragma once

#include "Json.h"
#include "core/Program.h"

#include <map>
#include <string>
#include <vector>

namespace gc3::test {

struct TraceEvent {
  std::string phase, name;
  uint64_t process = 0, thread = 0;
  uint64_t begin = 0, end = 0; ///< nanoseconds
  std::map<std::string, std::string> arguments;
};

struct Trace {
  std::string problem; ///< why it can't be read, or empty
  std::vector<TraceEvent> events;

  explicit Trace(const std::string &path);
  /// Events of that phase and name.
  std::vector<TraceEvent> find(const std::string &phase, const std::string &name) const;
};

/// Which calls a trace should have of one group of communicators.
struct TracedGroup {
  const core::Program *program = nullptr; ///< of all calls
  std::vector<uint64_t> calls;            ///< their numbers
  uint64_t firstProcess = 0;
  /// Messages have arrived as a whole when what receives them begins: not so under LL and LL128.
  bool arrivesWhole = true;
  /// Else times of different ranks can't be compared to the nanosecond.
  bool oneClock = true;
};

/// What is wrong with the group's events, or an empty string: each instruction of each tile of each call has to be
/// there once, within its call, behind all that the program has before it; and nothing else.
std::string checkTrace(const Trace &trace, const TracedGroup &group);

} // namespace gc3::test
