// SPDX-License-Identifier: Apache-2.0
#include "CheckSource.h"
#include "CheckText.h"
#include "gc3/Lower/Lower.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Sema/Sema.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

/// Limits for a compilation: small enough for runs of milliseconds, large enough for the examples with few ranks.
static const sema::SemaOptions smallBudgets{.defines = {},
                                            .includeDirs = {},
                                            .program = {},
                                            .maxSteps = 20000,
                                            .maxOperations = 500,
                                            .maxSlots = 4096,
                                            .maxScratch = 1024,
                                            .maxListElements = 4096,
                                            .maxCallDepth = 100};
static constexpr lower::Options smallDag{.maxInstructions = 4000};

/// Returns the syntax tree as text, or nothing after an error. Sets `excused` if the text exceeds a limit. The printed
/// text can exceed a limit even if the original text does not, because it has more parentheses.
static std::optional<std::string> reprint(const std::string &text, bool &excused) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::unique_ptr<const ast::File> file = parse::parseFile(sources, diags, "text.gc3", text);
  for (const Diagnostic &diagnostic : diags.all())
    excused |= diagnostic.id == DiagId::TooDeep || diagnostic.id == DiagId::TooLarge;
  if (!file)
    return std::nullopt;
  std::string printed;
  llvm::raw_string_ostream out(printed);
  parse::printAst(out, *file);
  return out.str();
}

static std::string checkSyntax(const std::string &text) {
  bool excused = false;
  std::optional<std::string> once = reprint(text, excused);
  if (!once)
    return {};
  std::optional<std::string> twice = reprint(*once, excused);
  if (!twice)
    return excused ? "" : "what was printed is not parsed: " + *once;
  return *twice == *once ? "" : "printed once " + *once + "and then " + *twice;
}

static std::string checkProgram(const ir::ChunkDag &chunks, Diagnostics &diags, unsigned &compiled) {
  std::optional<ir::InstructionDag> dag = lower::lower(chunks, smallDag, diags);
  if (!dag)
    return diags.hasErrors() ? "" : "not lowered, and no error";
  std::optional<ir::Program> program = schedule::schedule(*dag, {.fifoSlots = 2, .maxThreadBlocks = 16}, diags);
  if (!program)
    return diags.hasErrors() ? "" : "not scheduled, and no error";
  ++compiled;
  return test::checkCompiled(*program);
}

/// Prints the diagnostics in all formats, to test that their source places can be printed.
static void printAll(const Diagnostics &diags) {
  std::string printed;
  llvm::raw_string_ostream out(printed);
  diags.print(out, false);
  diags.printJson(out, "-");
}

std::string gc3::test::checkSource(const std::string &text, unsigned &compiled) {
  std::string problem = checkSyntax(text);
  SourceManager sources;
  Diagnostics diags(sources);
  std::vector<ir::ChunkDag> programs = sema::analyze(sources, diags, "-", text, smallBudgets);
  bool good = !diags.hasErrors();
  if (good && programs.empty() && problem.empty())
    problem = "neither a program nor an error";
  for (size_t i = 0; good && problem.empty() && i != programs.size(); ++i)
    problem = checkProgram(programs[i], diags, compiled);
  printAll(diags);
  return problem;
}
