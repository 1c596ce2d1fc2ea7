// SPDX-License-Identifier: Apache-2.0
// The command line of gc3c, as the options of the stages.
#pragma once

#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Sema/Sema.h"
#include <optional>
#include <string>
#include <vector>

namespace gc3::driver {

/// What to write; in the order of the stages.
enum class Emit : uint8_t { Ast, ChunkDag, InstructionDag, GC3IR, Bundle };

/// What the input is: the stage that reads it is the first to run.
enum class From : uint8_t { Source, InstructionDag, GC3IR };

enum class VerifyMode : uint8_t { Fast, Exact, Off };

struct Options {
  std::string input; ///< "-": standard input
  std::string
      output; ///< empty: standard output for text, the input's stem with .gc3b for a bundle; "-": standard output
  From from = From::Source;
  Emit emit = Emit::Bundle;
  bool dump = false; ///< the input is a bundle to print
  VerifyMode verify = VerifyMode::Fast;
  bool timeReport = false;
  unsigned errorLimit = 20;
  sema::SemaOptions sema;
  lower::Options lower;
  schedule::Options schedule;
};

/// Parses the command line. Nothing: it was wrong, which has been said; the program is to exit with 2. `--help` and
/// `--version` print and exit.
std::optional<Options> parseCommandLine(int argc, const char *const *argv);

} // namespace gc3::driver
