// SPDX-License-Identifier: Apache-2.0
#include "CheckText.h"
#include "bundle/BundleFile.h"
#include "bundle/Validate.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/Read.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

static constexpr ir::ReadOptions smallBudgets{.maxSlots = 4096, .maxContributions = 65536};

template <typename IR>
static std::string print(const IR &ir) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::print(out, ir);
  return out.str();
}

/// Reads the text. Sets `problem` unless the reader either returns programs or reports an error.
template <typename IR, typename Read>
static std::vector<IR> readAll(Read read, const std::string &text, std::string &problem) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::vector<IR> result = read(sources, diags, "text", text, smallBudgets);
  if (result.empty() != diags.hasErrors())
    problem = "neither a program nor an error, or both";
  std::string printed; // tests that the places of diagnostics can be printed
  llvm::raw_string_ostream out(printed);
  diags.print(out, false);
  return result;
}

template <typename IR, typename Read>
static std::string checkFixedPoint(Read read, const IR &ir) {
  std::string problem;
  std::string once = print(ir);
  std::vector<IR> again = readAll<IR>(read, once, problem);
  if (again.size() != 1)
    return "what was printed is not read: " + once;
  return print(again[0]) == once ? problem : "printed once " + once + "and then " + print(again[0]);
}

static std::string checkBundle(const ir::Program &program, const verify::Verdict &verdict) {
  std::string bytes = emit::writeBundle({{&program, verdict.proven, verdict.minSlots, verdict.wholeSlots}}, "test");
  const auto file = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
  if (!file.ok())
    return file.outcome().message;
  std::vector<bundle::RankView> views(program.ranks());
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    if (auto status = (*file)->rank(0, rank).moveTo(views[rank]); !status.ok())
      return status.message;
  if (auto status = (*file)->check(0).outcome(); !status.ok())
    return status.message;
  return bundle::validateConnections(views);
}

std::string gc3::test::checkVerdicts(const ir::Program &program) {
  verify::Verdict verdict = verify::verify(program, {});
  verify::Verdict exact = verify::verify(program, {.exact = true});
  if (verdict.holds() != exact.holds())
    return "hashes and multisets judge differently: " + print(program);
  return verdict.holds() ? checkBundle(program, verdict) : "";
}

std::string gc3::test::checkCompiled(const ir::Program &program) {
  if (verify::Verdict verdict = verify::verify(program, {}); !verdict.holds())
    return "not proven: " + verdict.findings.front().message + " in " + print(program);
  return checkVerdicts(program);
}

std::string gc3::test::checkText(const std::string &text, unsigned &accepted) {
  std::string problem;
  for (const ir::Program &program : readAll<ir::Program>(ir::readGC3IR, text, problem)) {
    ++accepted;
    if (problem.empty())
      problem = checkFixedPoint(ir::readGC3IR, program);
    if (problem.empty())
      problem = checkVerdicts(program);
  }
  for (const ir::InstructionDag &dag : readAll<ir::InstructionDag>(ir::readInstructionDag, text, problem)) {
    ++accepted;
    if (problem.empty())
      problem = checkFixedPoint(ir::readInstructionDag, dag);
    SourceManager sources;
    Diagnostics diags(sources);
    std::optional<ir::Program> program = schedule::schedule(dag, {.fifoSlots = 1, .maxThreadBlocks = 16}, diags);
    if (problem.empty() && program)
      problem = checkVerdicts(*program);
  }
  return problem;
}
