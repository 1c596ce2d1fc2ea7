// SPDX-License-Identifier: Apache-2.0
// Parses the command line of gc3c into the options of the stages.
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

/// Output of gc3c. First the results of the stages, in their order, then the formats that gc3c makes from GC3-IR (Dot:
/// from the IR that Options::graph names). With Cost, gc3c writes counts of messages and bytes (--cost). With Verdict,
/// gc3c writes only verdicts (--verify-only).
enum class Emit : uint8_t { Ast, ChunkDag, InstructionDag, GC3IR, Bundle, MscclXml, Dot, Html, Cost, Verdict };

/// Format of the input. Compilation begins with the stage that reads this format.
enum class From : uint8_t { Source, InstructionDag, GC3IR, MscclXml, Bundle };

enum class VerifyMode : uint8_t { Fast, Exact, Off };

enum class CostFormat : uint8_t { Text, Json };

struct Options {
  std::string input;  ///< "-": standard input
  std::string output; ///< output path; "-": standard output; empty: standard output for text, and the input's stem with
                      ///< the suffix .gc3b or .html for a bundle or a page
  /// inputs of --verify-only, for which gc3c writes only verdicts; empty without this option
  std::vector<std::string> verifyOnly;
  From from = From::Source;
  std::string collective; ///< the collective that MSCCL XML implements, for files that do not name it;
                          ///< MscclCollective.h describes the format
  std::string topology;   ///< with Cost: the machine for times; empty: none
  Emit emit = Emit::Bundle;
  emit::MscclDialect mscclDialect = emit::MscclDialect::Msccl;
  CostFormat costFormat = CostFormat::Text;
  Emit graph = Emit::GC3IR; ///< the IR that Emit::Dot draws
  size_t maxPicture = 1000; ///< maximum number of nodes of a graph, or of steps and slots of a page
  bool dump = false;        ///< true: gc3c prints the input, which must be a bundle
  bool listStd = false;     ///< true: gc3c prints the contents of the standard library; there is no input
  std::string explain;      ///< the diagnostic id to explain, or "all"; there is no input
  VerifyMode verify = VerifyMode::Fast;
  bool dependencies = false; ///< true: gc3c also writes a make rule that lists the files it has read
  /// path of the make rule; empty: the output's path with the suffix .d; "-": standard output
  std::string dependencyFile;
  bool phonyDependencies = false;
  bool timeReport = false;
  DiagnosticsFormat diagnostics = DiagnosticsFormat::Text;
  bool color = false; ///< colors diagnostics in text format
  unsigned errorLimit = 20;
  sema::SemaOptions sema;
  lower::Options lower;
  schedule::Options schedule;
};

/// Parses the command line. If the command line is wrong, reports the error and returns nothing; the caller must then
/// exit with 2. For `--help` and `--version`, prints the text and exits the process.
std::optional<Options> parseCommandLine(int argc, const char *const *argv);

} // namespace gc3::driver
