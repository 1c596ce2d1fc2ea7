// SPDX-License-Identifier: Apache-2.0
// Chooses the rows of the table as gc3-run does, and predicts their times.
#pragma once

#include "Programs.h"
#include "Row.h"
#include "core/Program.h"
#include "gc3/Simulate/Simulate.h"

namespace gc3::sim {

/// A row of the table, and the prediction of its call.
struct Simulated {
  run::Row row;
  uint32_t program = 0;                           ///< number in the bundle
  double time = 0;                                ///< microseconds
  uint64_t instructions = 0;                      ///< steps in all tiles
  uint32_t threadBlocks = 0, simulatedBlocks = 0; ///< of all ranks, and without those that equal a simulated one
};

class Rows {
public:
  /// All arguments must outlive this object.
  Rows(const CommandLine &line, const bundle::BundleFile &file, const simulate::Fabric &fabric)
      : line(line), file(file), fabric(fabric), table(tableOptions) {
    tableOptions.quiet = line.quiet || line.json == "-";
  }

  /// Simulates all rows and prints the table. Returns an error text, or an empty string.
  std::string simulateAll();
  const std::vector<Simulated> &all() const { return rows; }
  /// Simulates the last row again, with its events.
  std::string recordLast(simulate::Prediction &prediction);
  /// Returns a loaded program. Call after simulateAll().
  const core::Program &program(uint32_t index) const { return *programs[index]; }

private:
  /// Programs of one collective, in the order of the bundle.
  struct Group {
    std::string label;
    int root = -1;
    std::vector<uint32_t> programs;
  };
  std::string groupPrograms(std::vector<Group> &groups);
  std::string simulateGroup(const Group &group);
  std::string simulateRow(const Group &group, uint32_t index, uint64_t count, uint64_t bytes);
  std::string load(uint32_t index);
  simulate::Call callOf(uint32_t index, uint64_t count) const;
  std::vector<uint64_t> countsOf(uint32_t index) const;
  std::optional<uint32_t> select(const Group &group, uint64_t bytes) const;

  const CommandLine &line;
  const bundle::BundleFile &file;
  const simulate::Fabric &fabric;
  run::Options tableOptions;
  run::Table table;
  std::vector<std::unique_ptr<core::Program>> programs; ///< by number in the bundle; null: not loaded
  std::vector<Simulated> rows;
};

} // namespace gc3::sim
