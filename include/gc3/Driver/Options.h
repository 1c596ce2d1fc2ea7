// SPDX-License-Identifier: Apache-2.0
// The command line of gc3c, as the options of the stages.
#pragma once

#include "gc3/Emit/MscclXml.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Support/DiagnosticsPrinter.h"
#include <optional>
#include <string>
#include <vector>

namespace gc3::driver {

/// What to write; in the order of the stages, then what is made of GC3-IR. Verdict: nothing but that.
enum class Emit : uint8_t { Ast, ChunkDag, InstructionDag, GC3IR, Bundle, MscclXml, Dot, Html, Verdict };

/// What the input is: the stage that reads it is the first to run.
enum class From : uint8_t { Source, InstructionDag, GC3IR, MscclXml, Bundle };

enum class VerifyMode : uint8_t { Fast, Exact, Off };

struct Options {
  std::string input;  ///< "-": standard input
  std::string output; ///< empty: standard output for text, the input's stem with .gc3b for a bundle, with .html for a
                      ///< page; "-": standard output
  std::vector<std::string> verifyOnly; ///< these are the inputs, and their verdicts are all that is written
  From from = From::Source;
  std::string collective; ///< what MSCCL XML implements, where the file does not say so; see MscclCollective.h
  Emit emit = Emit::Bundle;
  emit::MscclDialect mscclDialect = emit::MscclDialect::Msccl;
  Emit graph = Emit::GC3IR; ///< the IR that Emit::Dot draws
  size_t maxPicture = 1000; ///< nodes of a graph, or steps and slots of a page
  bool dump = false;        ///< the input is a bundle to print
  bool listStd = false;     ///< there is no input: print what the standard library has
  std::string explain;      ///< there is no input: print what this id of messages means, or "all"
  VerifyMode verify = VerifyMode::Fast;
  bool dependencies = false;  ///< write a rule for make as well
  std::string dependencyFile; ///< where; empty: the output's path with .d for its suffix; "-": standard output
  bool phonyDependencies = false;
  bool timeReport = false;
  DiagnosticsFormat diagnostics = DiagnosticsFormat::Text;
  bool color = false; ///< of diagnostics as text
  unsigned errorLimit = 20;
  sema::SemaOptions sema;
  lower::Options lower;
  schedule::Options schedule;
};

/// Parses the command line. Nothing: it was wrong, which has been said; the program is to exit with 2. `--help` and
/// `--version` print and exit.
std::optional<Options> parseCommandLine(int argc, const char *const *argv);

} // namespace gc3::driver
