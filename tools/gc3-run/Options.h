// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-run.
#pragma once

#include "Reduction.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::run {

enum class Placement : uint8_t { OutOfPlace = 0, InPlace = 1 };

struct Options {
  std::string bundle;
  std::string collective; ///< empty: all
  std::string program;    ///< empty: chosen by the dispatch table; "all": each one
  uint64_t minBytes = 1 << 10;
  uint64_t maxBytes = 64 << 20;
  uint64_t factor = 2;
  uint64_t stepBytes = 0;       ///< not 0: sizes grow by this instead of by the factor
  std::vector<uint64_t> counts; ///< not empty: these element counts per block instead of sizes
  std::vector<gc3DataType_t> types = {gc3Float32};
  std::vector<Reduction> ops = {Reduction::Sum};
  int iterations = -1; ///< -1: up to 20, as many as fit into half a second
  int warmup = -1;     ///< -1: a quarter of the iterations
  bool check = true;
  bool outOfPlace = true;
  bool inPlace = true;
  int rounds = 0;           ///< checked runs per row; 0: until every contribution shows, within a limit
  bool onGpu = false;       ///< all ranks on the current GPU, else on the host
  uint64_t ranksPerGpu = 0; ///< 0: as many as the program has
  gc3HostConfig_t host = GC3_HOST_CONFIG_INITIALIZER;
  bool quiet = false; ///< no table
  std::string json;   ///< a file, or - for standard output; empty: none
  std::string trace;  ///< a file; empty: none
};

/// The action after parsing.
enum class Action : uint8_t { Run, Exit, UsageError };

/// Parses the command line. For --help, --version and --settings prints the text and returns Exit. After an error
/// prints a message on stderr and returns UsageError.
Action parseOptions(int argc, char **argv, Options &options);

const char *typeName(gc3DataType_t type);

} // namespace gc3::run
