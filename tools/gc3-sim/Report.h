// SPDX-License-Identifier: Apache-2.0
// Prints where the time of a call goes, and writes rows as JSON and events as a trace.
#pragma once

#include "Rows.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::sim {

/// A simulated call with its events.
struct Recorded {
  const Programs &input;
  const core::Program &program;
  uint32_t index; ///< of the program in the bundle
  const simulate::Fabric &fabric;
  const simulate::Prediction &prediction;
  const run::Row &row;
};

/// The thread block of a step within its rank, and the step's number in it.
struct Place {
  uint32_t rank, block, step;
};
Place placeOf(const core::Program &program, uint32_t step);

/// Returns the name of a part of a critical path, such as "latency of messages".
std::string nameOf(const simulate::PathPart &part, const simulate::Fabric &fabric);
/// Prints the parts of the critical path, and its steps.
void printCriticalPath(llvm::raw_ostream &out, const Recorded &call);
/// Prints the use of all resources that move bytes, the busiest first.
void printResources(llvm::raw_ostream &out, const Recorded &call);
/// Returns an object with `rows`: size in bytes, time in microseconds, program, and more. `instructions` are steps in
/// all tiles. `simulated_blocks` of all `thread_blocks` were simulated.
std::string jsonOf(const CommandLine &line, const std::vector<Simulated> &rows);
/// Returns a page with plots of the rows, which have details.
std::string pageOf(const CommandLine &line, const Rows &rows, const simulate::Fabric &fabric);
/// Returns the events in Chrome's trace format, with arrows from each send to its receive.
std::string traceOf(const Recorded &call);

} // namespace gc3::sim
