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

/// Output of gc3c: the stages in order, then the forms that are made of GC3-IR. Verdict: writes only Verify's verdict.
enum class Emit : uint8_t { Ast, ChunkDag, InstructionDag, GC3IR, Bundle, MscclXml, Dot, Html, Verdict };

/// Format of the input. The stage that reads it runs first.
enum class From : uint8_t { Source, InstructionDag, GC3IR, MscclXml, Bundle };

enum class VerifyMode : uint8_t { Fast, Exact, Off };

struct Options {
  std::string input;  ///< "-": standard input
  std::string output; ///< empty: standard output for text, the input's stem with .gc3b for a bundle, with .html for a
                      ///< page; "-": standard output
  std::vector<std::string> verifyOnly; ///< if not empty, these are the inputs, and gc3c writes only their verdicts
  From from = From::Source;
  std::string collective; ///< the collective that MSCCL XML implements, if the file does not name it; see
                          ///< MscclCollective.h
  Emit emit = Emit::Bundle;
  emit::MscclDialect mscclDialect = emit::MscclDialect::Msccl;
  Emit graph = Emit::GC3IR; ///< the IR that Emit::Dot draws
  size_t maxPicture = 1000; ///< maximum number of nodes of a graph, or of steps and slots of a page
  bool dump = false;        ///< prints the input, which is a bundle
  bool listStd = false;     ///< prints the contents of the standard library; there is no input
  std::string explain;      ///< the diagnostic id to explain, or "all"; there is no input
  VerifyMode verify = VerifyMode::Fast;
  bool dependencies = false;  ///< also writes a rule for make
  std::string dependencyFile; ///< path of that rule; empty: the output's path with .d for its suffix; "-": standard
                              ///< output
  bool phonyDependencies = false;
  bool timeReport = false;
  DiagnosticsFormat diagnostics = DiagnosticsFormat::Text;
  bool color = false; ///< of diagnostics as text
  unsigned errorLimit = 20;
  sema::SemaOptions sema;
  lower::Options lower;
  schedule::Options schedule;
};

/// Parses the command line. After an error, which it has reported, returns nothing; the program must then exit with 2.
/// For `--help` and `--version`, prints the text and exits the process.
std::optional<Options> parseCommandLine(int argc, const char *const *argv);

} // namespace gc3::driver
