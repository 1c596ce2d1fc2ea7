// SPDX-License-Identifier: Apache-2.0
// Chooses the rows of the table as gc3-run does, and predicts their times.
#pragma once

#include "Baseline.h"
#include "Row.h"
#include "gc3/Simulate/CriticalPath.h"
#include <set>

namespace gc3::sim {

/// A row of the table, and the prediction of its call.
struct Simulated {
  run::Row row;
  uint32_t program = 0;                                 ///< number in the bundle
  double time = 0;                                      ///< microseconds
  kernel::Protocol protocol = kernel::Protocol::Simple; ///< that the call uses
  uint64_t instructions = 0;                            ///< steps in all tiles
  uint32_t threadBlocks = 0, simulatedBlocks = 0;       ///< of all ranks, and without those that equal a simulated one
  std::optional<BaselineTime> baseline;                 ///< nothing: none requested, or it has no program for the size
  // Only for --report:
  std::vector<double> bytesMoved;        ///< by resource of the fabric
  std::vector<simulate::PathPart> parts; ///< of the critical path; empty if the call has too many steps

  /// Returns the baseline's time divided by the program's, or nothing.
  std::optional<double> speedup() const;
};

class Rows {
public:
  /// Largest number of steps in all tiles for which a report shows the critical path.
  static constexpr uint64_t MostPathSteps = 1 << 20;

  /// All arguments must outlive this object. `baseline` may be null.
  Rows(const CommandLine &line, const bundle::BundleFile &file, const simulate::Fabric &fabric,
       const Baseline *baseline)
      : line(line), file(file), fabric(fabric), baseline(baseline), groups(file, wiringOf(fabric.topology())),
        table(tableOptions) {
    tableOptions.quiet = line.quiet || line.json == "-" || line.report == "-";
  }

  /// Simulates all rows and prints the table. Returns an error text, or an empty string.
  std::string simulateAll();
  const std::vector<Simulated> &all() const { return rows; }
  /// Simulates a row again, with its events.
  std::string record(const Simulated &row, simulate::Prediction &prediction) const;
  /// Returns a loaded program. Call after simulateAll().
  const core::Program &program(uint32_t index) const { return groups.program(index); }

private:
  std::string simulateGroup(const Group &group);
  std::string simulateRow(const Group &group, uint32_t index, uint64_t count, uint64_t bytes);
  void noteProtocol(uint32_t index);
  std::string addDetails(Simulated &row, simulate::Prediction &&prediction) const;
  std::string columnsOf(const Simulated &simulated) const;

  const CommandLine &line;
  const bundle::BundleFile &file;
  const simulate::Fabric &fabric;
  const Baseline *baseline;
  Groups groups;
  run::Options tableOptions;
  run::Table table;
  std::vector<Simulated> rows;
  std::set<uint32_t> noted; ///< programs after noteProtocol()
};

} // namespace gc3::sim
