// SPDX-License-Identifier: Apache-2.0
// One line of the result, and its two printers: the table that users of nccl-tests know, and JSON.
#pragma once

#include "Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::run {

/// One placement of one row.
struct Measurement {
  bool measured = false;
  double microseconds = 0; ///< per run; 0 when nothing was timed
  double algbw = 0;        ///< GB/s, 10^9
  double busbw = 0;
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
  Measurement placement[2]; ///< by Placement
};

/// What a run came to.
struct Summary {
  std::vector<Row> rows;
  uint64_t wrong = 0;

  /// Mean of the bus bandwidths of all measurements that were timed.
  double averageBusBandwidth() const;
};

/// bus bandwidth = algorithm bandwidth * this, as nccl-tests defines it; 1 for collectives it does not know.
double busFactor(const std::string &collective, int ranks);

/// Prints the table on standard output, unless `options.quiet` is set.
class Table {
public:
  explicit Table(const Options &chosen) : options(chosen) {}

  void header() const;
  void group(const std::string &collective, int ranks, int root) const;
  /// The sizes from `first` to `last` bytes, for which the bundle has no program.
  void skipped(const std::string &collective, int ranks, uint64_t first, uint64_t last) const;
  void row(const Row &row) const;
  void footer(const Summary &summary) const;

private:
  const Options &options;
};

/// What would keep a file from being written to `path`, or an empty string; leaves nothing behind.
std::string checkWritable(const std::string &path);
/// Of all files that the options name: they are writable, and neither the bundle nor each other.
std::string checkOutputs(const Options &options);
/// Writes a regular file through a temporary one beside it, what links lead to; anything else directly. Returns what
/// went wrong, or an empty string.
std::string writeJson(const std::string &path, const Options &options, const Summary &summary);

} // namespace gc3::run
