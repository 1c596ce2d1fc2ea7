// SPDX-License-Identifier: Apache-2.0
// The command line of gc3-run.
#pragma once

#include "Reduction.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::run {

enum class Placement : uint8_t { OutOfPlace = 0, InPlace = 1 };

/// Where the ranks run.
enum class Backend : uint8_t {
  Host, ///< on the host's processors
  Cuda, ///< all on the current GPU
  Nccl, ///< one for each process, on its own GPU, joined by NCCL
};
const char *backendName(Backend backend);

struct Options {
  std::string bundle;
  std::string collective; ///< empty: all collectives
  std::string program;    ///< empty: the program for each size; "all": each program
  uint64_t minBytes = 1 << 10;
  uint64_t maxBytes = 64 << 20;
  uint64_t factor = 2;
  uint64_t stepBytes = 0;       ///< if not 0, sizes grow by this number instead of by the factor
  std::vector<uint64_t> counts; ///< if not empty, these element counts per block are run instead of sizes
  std::vector<gc3DataType_t> types = {gc3Float32};
  std::vector<Reduction> ops = {Reduction::Sum};
  int iterations = -1; ///< -1: up to 20, as many as fit into half a second
  int warmup = -1;     ///< -1: a quarter of the iterations
  bool check = true;
  bool outOfPlace = true;
  bool inPlace = true;
  int rounds = 0; ///< checked runs per row; 0: until every rank has contributed to every chunk
  Backend backend = Backend::Host;
  bool timesNccl = false;   ///< true: NCCL's own collectives are timed, too; only with Backend::Nccl
  uint64_t ranksPerGpu = 0; ///< 0: all ranks of the program
  uint32_t processes = 0;   ///< processes that run the bundle together; 0: one
  gc3HostConfig_t host = GC3_HOST_CONFIG_INITIALIZER;
  bool quiet = false;       ///< true: print no table
  std::string json;         ///< a file, or - for standard output; empty: none
  std::string trace;        ///< a file; empty: none
  uint64_t tracedSizes = 1; ///< with `trace`: the number of sizes, for each collective and type, whose calls are traced
};

/// What main() does after parsing.
enum class Action : uint8_t { Run, Exit, UsageError };

/// Parses the command line. `processes` becomes the number of processes to start. For --help, --version and --settings
/// prints the text and returns Exit. After an error sets `error` and returns UsageError.
Action parseOptions(int argc, char **argv, Options &options, std::string &error);

/// Returns the command line without the program and without the option --processes.
std::vector<std::string> argumentsOfProcesses(int argc, char **argv);

const char *typeName(gc3DataType_t type);

} // namespace gc3::run
