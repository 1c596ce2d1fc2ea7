// SPDX-License-Identifier: Apache-2.0
#include "CheckImport.h"
#include "CheckText.h"
#include "MendBundle.h"
#include "MscclCollective.h"
#include "Products.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/IR/Print.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using gc3::test::checkVerdicts;

static constexpr ir::ReadOptions smallBudgets{.maxSlots = 4096, .maxContributions = 4096};

static std::string print(const ir::Program &program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::print(out, program);
  return out.str();
}

namespace {

/// Options and diagnostics for reading one text, as in gc3c. The destructor prints the diagnostics, to test that their
/// source places can be printed.
struct Reading {
  Reading() {
    options.sema.maxSlots = smallBudgets.maxSlots;
    options.sema.maxSteps = 1 << 20;
  }
  ~Reading() {
    std::string printed;
    llvm::raw_string_ostream out(printed);
    session.diags.print(out, false);
  }
  driver::Options options;
  driver::Session session{options};
};

} // namespace

/// Returns a program for calls in place and one for calls out of place, if the file supports them. The programs have
/// the promises of their collective. Returns no programs after an error.
static std::vector<ir::Program> readXml(Reading &reading, const std::string &text, std::string &problem) {
  driver::Session &session = reading.session;
  std::vector<ir::Program> programs;
  auto algorithm = imports::readMscclXml(session.sources, session.diags, "text", text, smallBudgets.maxSlots);
  if (algorithm.has_value() == session.diags.hasErrors())
    problem = "neither an algorithm nor an error, or both";
  if (!algorithm)
    return {};
  const std::string &name = algorithm->info.collective.name;
  if (name == "broadcast" || name == "reduce")
    reading.options.collective = name + "(root = 0)";
  for (bool inPlace : {true, false}) {
    if (!(inPlace ? algorithm->inPlace : algorithm->outOfPlace))
      continue;
    std::optional<ir::Collective> collective = driver::collectiveOf(session, *algorithm, inPlace);
    std::optional<ir::Program> program;
    if (collective)
      program = imports::programOf(*algorithm, std::move(*collective), 2, session.diags);
    if (program.has_value() == session.diags.hasErrors())
      problem = "neither a program nor an error, or both";
    if (!program)
      return {};
    programs.push_back(std::move(*program));
  }
  return programs;
}

/// Returns the XML, or an empty string if the exporter rejects the program.
static std::string exportXml(const ir::Program &program) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::string text;
  llvm::raw_string_ostream out(text);
  emit::writeMscclXml(out, program, emit::MscclDialect::Msccl, diags);
  return out.str();
}

static std::string checkProgram(Reading &reading, const ir::Program &program) {
  std::string once = print(program);
  Reading readingBack;
  std::vector<ir::Program> again =
      ir::readGC3IR(readingBack.session.sources, readingBack.session.diags, "text", once,
                    {.maxSlots = smallBudgets.maxSlots, .maxContributions = readingBack.options.sema.maxSteps});
  if (again.size() != 1 || print(again[0]) != once)
    return "what was printed is not read, or prints otherwise: " + once;
  if (std::string problem = checkVerdicts(program); !problem.empty() || !verify::verify(program, {}).holds())
    return problem;
  driver::verifyCut(reading.session, program); // the cut program can deadlock, which is not an error here
  std::string text = exportXml(program);
  if (text.empty())
    return {};
  std::string problem;
  Reading readingExported;
  std::vector<ir::Program> imported = readXml(readingExported, text, problem);
  if (imported.size() != 1 || exportXml(imported[0]) != text)
    return "what was exported is not imported, or exports otherwise: " + text;
  return problem;
}

std::string gc3::test::checkMscclXml(const std::string &text, unsigned &accepted) {
  std::string problem;
  Reading reading;
  for (const ir::Program &program : readXml(reading, text, problem)) {
    ++accepted;
    if (problem.empty())
      problem = checkProgram(reading, program);
  }
  return problem;
}

std::string gc3::test::checkBundle(std::string bytes, unsigned &accepted) {
  if (std::optional<std::vector<Section>> sections = splitBundle(bytes))
    bytes = joinBundle(std::move(*sections));
  std::vector<imports::BundledProgram> programs;
  bool good = imports::readBundle(bytes, smallBudgets, programs).empty();
  for (const imports::BundledProgram &one : programs) {
    accepted += good;
    if (std::string problem = checkVerdicts(one.program); !problem.empty())
      return problem;
    verify::Verdict verdict = verify::verify(one.program, {});
    if (!verdict.holds())
      continue;
    std::string again =
        emit::writeBundle({{&one.program, verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "test");
    std::vector<imports::BundledProgram> read;
    if (std::string problem = imports::readBundle(again, smallBudgets, read).message; !problem.empty())
      return problem + ": " + print(one.program);
  }
  return {};
}
