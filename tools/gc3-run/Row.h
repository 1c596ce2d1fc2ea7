// SPDX-License-Identifier: Apache-2.0
// One row of the result, and its two formats: the table of nccl-tests, and JSON.
#pragma once

#include "Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::run {

/// The result of one placement of one row.
struct Measurement {
  bool measured = false;
  double microseconds = 0; ///< time of one run; 0: not timed
  double algbw = 0;        ///< algorithm bandwidth in GB/s, 10^9 bytes per second
  double busbw = 0;
  double ncclMicroseconds = 0; ///< time of one run of NCCL's own collective; 0: not timed
  bool checked = false;
  uint64_t wrong = 0;
};

struct Row {
  std::string collective;
  std::string program;
  int ranks = 0;
  uint64_t bytes = 0;
  uint64_t count = 0;
  const char *type = "";
  const char *op = "none";
  int root = -1;
  Measurement placement[2]; ///< indexed by Placement
  std::string columns;      ///< text for the columns of Table::addColumns()
};

/// The result of a run.
struct Summary {
  std::vector<Row> rows;
  uint64_t wrong = 0;

  /// Returns the mean bus bandwidth of all timed measurements.
  double averageBusBandwidth() const;
};

/// Returns bus bandwidth / algorithm bandwidth, as nccl-tests defines it; 1 for collectives that it does not have.
double busFactor(const std::string &collective, int ranks);

/// Prints the table on standard output, unless `options.quiet` is set.
class Table {
public:
  explicit Table(const Options &chosen) : options(chosen) {}

  /// Adds columns after those of nccl-tests, with a first and a second line of titles. `programWidth` is the length of
  /// the longest name of a program.
  void addColumns(int programWidth, const std::string &titles, const std::string &units);
  void header() const;
  void group(const std::string &collective, int ranks, int root) const;
  /// Prints that the bundle has no program for the sizes from `first` to `last` bytes.
  void skipped(const std::string &collective, int ranks, uint64_t first, uint64_t last) const;
  void row(const Row &row) const;
  /// Prints a line that is no row.
  void note(const std::string &text) const;
  void footer(const Summary &summary) const;
  /// Prints the size of a trace file that has been written. `isPartial` is true if it lacks sizes of the table.
  void trace(const std::string &path, bool isPartial) const;

private:
  const Options &options;
  int width = 0; ///< of the program's column
  std::string moreTitles, moreUnits;
};

/// Returns the reason why a file cannot be written to `path`, or an empty string. Leaves no file behind.
std::string checkWritable(const std::string &path);
/// Checks that all files that the options name are writable, and differ from the bundle and from each other. Returns an
/// error message, or an empty string.
std::string checkOutputs(const Options &options);
/// Writes a regular file through a temporary file next to it, after resolving symbolic links; writes anything else
/// directly. Returns an error message, or an empty string.
std::string writeJson(const std::string &path, const Options &options, const Summary &summary);

} // namespace gc3::run
