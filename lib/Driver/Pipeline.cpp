// SPDX-License-Identifier: Apache-2.0
// Sema → Lower → Schedule → Verify → Emit. Frees each IR of a program as soon as the next IR is complete.
#include "Pipeline.h"
#include "BundleClaims.h"
#include "InputKind.h"
#include "MachineCosts.h"
#include "MscclCollective.h"
#include "Products.h"
#include "ReadTopology.h"
#include "StandardPromise.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/Cost.h"
#include "gc3/IR/Dispatch.h"
#include "gc3/Parse/Parse.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::driver;

ir::ReadOptions gc3::driver::readOptions(const Options &options) {
  return {.maxSlots = options.sema.maxSlots, .maxContributions = options.sema.maxSteps};
}

uint64_t Pipeline::instructions() const {
  uint64_t sum = 0;
  for (const ir::Program &program : programs)
    sum += program.steps.size();
  return sum;
}

verify::Verdict Pipeline::verifyProgram(const ir::Program &program) {
  verify::Verdict verdict;
  if (options.verify != VerifyMode::Off) {
    auto timer = session.times.start("verify");
    verdict = verify::verify(program, verifyOptions(options));
  }
  for (const verify::Finding &finding : verdict.findings)
    report(session, *program.info, finding,
           finding.kind == verify::Finding::TooLarge ? DiagId::SlotBudget : DiagId::Unverified);
  return verdict;
}

bool Pipeline::compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out) {
  if (wants(options, Emit::ChunkDag))
    return writeGraph(session, dag, out);
  std::optional<ir::InstructionDag> instructions;
  {
    auto timer = session.times.start("lower");
    // freed at the end of this block; `dag = {}` would keep the memory of its arrays
    ir::ChunkDag operations = std::move(dag);
    instructions = lower::lower(operations, options.lower, session.diags);
  }
  return instructions && compileProgram(std::move(*instructions), out);
}

bool Pipeline::compileProgram(ir::InstructionDag &&dag, llvm::raw_ostream &out) {
  if (wants(options, Emit::InstructionDag))
    return writeGraph(session, dag, out);
  std::optional<ir::Program> program;
  {
    auto timer = session.times.start("schedule");
    program = options.emit == Emit::MscclXml ? scheduleForMsccl(options, dag, session.diags)
                                             : schedule::schedule(dag, options.schedule, session.diags);
    dag = {};
  }
  return program && compileProgram(std::move(*program), out);
}

bool Pipeline::compileProgram(ir::Program &&program, llvm::raw_ostream &out) {
  programs.push_back(std::move(program));
  verdicts.push_back(verifyProgram(programs.back()));
  return verdicts.back().holds() && writeProgram(session, programs.back(), out);
}

template <typename IR>
bool Pipeline::compileAll(std::vector<IR> &&parts, llvm::raw_ostream &out) {
  std::vector<const ir::ProgramInfo *> infos;
  for (const IR &part : parts)
    infos.push_back(part.info.get());
  if (!checkNumber(session, infos))
    return false;
  bool good = true;
  for (IR &part : parts)
    good &= compileProgram(std::move(part), out);
  return good;
}

bool Pipeline::printSyntax(llvm::StringRef text, llvm::raw_ostream &out) {
  auto file = parse::parseFile(session.sources, session.diags, options.input, text);
  if (session.diags.hasErrors())
    return false;
  parse::printAst(out, *file);
  return true;
}

/// Reports an error and returns true if the text begins like another kind of input, which the parser would reject with
/// a syntax error.
static bool isNoSource(Session &session, llvm::StringRef text) {
  const char *advice = nullptr;
  switch (kindByContent(text)) {
  case From::Source: return false;
  case From::GC3IR: advice = "holds GC3-IR, not a program; --from=gc3-ir reads it"; break;
  case From::InstructionDag: advice = "holds an Instruction DAG, not a program; --from=inst-dag reads it"; break;
  case From::MscclXml:
    advice = "holds XML, not a program; --import-msccl reads algorithms for the MSCCL runtimes";
    break;
  case From::Bundle: advice = "holds a bundle, not a program; --dump prints it, and gc3-run runs it"; break;
  }
  session.diags.error(DiagId::CannotRead, {}, "'" + session.options.input + "' " + advice);
  return true;
}

bool Pipeline::compileSource(llvm::StringRef text, llvm::raw_ostream &out) {
  if (isNoSource(session, text))
    return false;
  std::vector<ir::ChunkDag> dags;
  {
    auto timer = session.times.start("parse and evaluate");
    dags = sema::analyze(session.sources, session.diags, options.input, text, options.sema, &session.filesRead);
  }
  return !session.diags.hasErrors() && compileAll(std::move(dags), out);
}

/// Compiles the programs in the text of an IR.
template <typename IR>
bool Pipeline::compileText(Reader<IR> read, llvm::StringRef text, llvm::raw_ostream &out) {
  std::vector<IR> parts;
  {
    auto timer = session.times.start("read");
    parts = read(session.sources, session.diags, options.input, text, readOptions(options));
  }
  std::vector<const ir::ProgramInfo *> infos;
  for (const IR &part : parts)
    infos.push_back(part.info.get());
  ir::checkDispatch(infos, std::min(options.sema.sizeCheck, ir::SizeCheck::Overlaps), session.diags);
  for (const ir::ProgramInfo *info : infos)
    checkStandardPromise(session, *info);
  if (session.diags.hasErrors())
    return false;
  for (const ir::ProgramInfo *info : infos)
    if (!info->collective.post.promises())
      session.diags.remark(info->nameRange, "'" + info->name + "' has no 'ensures', so its output is not checked");
  return compileAll(std::move(parts), out);
}

/// Compiles an algorithm for the MSCCL runtimes. If the file serves calls in place and calls out of place, checks both.
/// The result is then the program for calls out of place, because a gc3 runtime also runs it in place.
bool Pipeline::compileMsccl(llvm::StringRef text, llvm::raw_ostream &out) {
  std::optional<imports::MscclAlgorithm> algorithm;
  std::vector<ir::Program> modes;
  {
    auto timer = session.times.start("read");
    algorithm = imports::readMscclXml(session.sources, session.diags, options.input, text, options.sema.maxSlots);
    for (bool inPlace : {true, false}) {
      if (!algorithm || !(inPlace ? algorithm->inPlace : algorithm->outOfPlace))
        continue;
      std::optional<ir::Collective> collective = collectiveOf(session, *algorithm, inPlace);
      std::optional<ir::Program> program;
      if (collective)
        program = imports::programOf(*algorithm, std::move(*collective), options.schedule.fifoSlots, session.diags);
      if (!program)
        return false;
      modes.push_back(std::move(*program));
    }
  }
  bool good = !modes.empty();
  for (size_t i = 0; i != modes.size(); ++i) {
    bool isEmitted = i + 1 == modes.size() || options.emit == Emit::Verdict;
    bool isRight = isEmitted ? compileProgram(std::move(modes[i]), out) : verifyProgram(modes[i]).holds();
    isRight = isRight && (options.emit != Emit::Verdict || verifyCut(session, programs.back()));
    if (!isRight && modes.size() != 1)
      session.diags.remark(algorithm->info.nameRange, std::string("the file declares calls in place and out of place; "
                                                                  "this concerns calls ") +
                                                          (i == 0 ? "in place" : "out of place"));
    good &= isRight;
  }
  return good;
}

bool Pipeline::verifyBundle(llvm::StringRef bytes) {
  std::vector<imports::BundledProgram> bundled;
  imports::BundleProblem problem = imports::readBundle(bytes, readOptions(options), bundled);
  if (!problem.empty()) {
    session.diags.error(problem.id, {}, options.input + ": " + problem.message);
    return false;
  }
  bool good = true;
  for (const imports::BundledProgram &one : bundled) {
    good &= checkStandardPromise(session, *one.program.info);
    programs.push_back(one.program);
    verdicts.push_back(verifyProgram(programs.back()));
    good &= verdicts.back().holds() && checkClaims(session, one, verdicts.back());
  }
  std::vector<const ir::ProgramInfo *> infos;
  for (const ir::Program &program : programs)
    infos.push_back(program.info.get());
  ir::checkDispatch(infos, std::min(options.sema.sizeCheck, ir::SizeCheck::Overlaps), session.diags);
  return good && !session.diags.hasErrors();
}

bool Pipeline::writeCosts(llvm::raw_ostream &out) {
  auto timer = session.times.start("emit");
  const auto write = options.costFormat == CostFormat::Json ? emit::writeCostsAsJson : emit::writeCosts;
  if (options.topology.empty()) {
    write(out, programs, nullptr);
    return true;
  }
  std::string error;
  const std::optional<topology::Topology> topology = readTopology(options.topology, error);
  if (!topology) {
    session.diags.error(DiagId::BadTopology, {}, error);
    return false;
  }
  if (!topology->warning.empty())
    session.diags.warning(DiagId::BadTopology, {}, topology->warning);
  const simulate::Fabric fabric(*topology);
  const auto hasRanks = [&](const ir::Program &program) { return program.ranks() == topology->ranks; };
  const bool anyHasRanks = std::any_of(programs.begin(), programs.end(), hasRanks);
  std::vector<ir::Program> fitting;
  for (const ir::Program &program : programs) {
    const std::string problem = findMisfit(program, fabric);
    if (problem.empty()) {
      fitting.push_back(program);
    } else if (anyHasRanks && !hasRanks(program)) {
      session.diags.warning(DiagId::BadTopology, program.info->nameRange, problem + "; it is left out");
    } else {
      session.diags.error(DiagId::BadTopology, program.info->nameRange, problem);
      return false;
    }
  }
  write(out, fitting,
        [&](const ir::Program &program, const emit::Cost &cost) { return machineCost(program, cost, fabric); });
  return true;
}

bool Pipeline::compile(llvm::StringRef text, std::string &result) {
  llvm::raw_string_ostream out(result);
  if (options.emit == Emit::Ast)
    return printSyntax(text, out);
  bool good = false;
  switch (options.from) {
  case From::Source: good = compileSource(text, out); break;
  case From::InstructionDag: good = compileText<ir::InstructionDag>(ir::readInstructionDag, text, out); break;
  case From::GC3IR: good = compileText<ir::Program>(ir::readGC3IR, text, out); break;
  case From::MscclXml: good = compileMsccl(text, out); break;
  case From::Bundle: good = verifyBundle(text); break;
  }
  if (good && options.emit == Emit::Cost)
    return writeCosts(out);
  if (!good || options.emit != Emit::Bundle)
    return good;
  auto timer = session.times.start("emit");
  std::vector<emit::VerifiedProgram> verified;
  for (size_t i = 0; i != programs.size(); ++i)
    verified.push_back({&programs[i], verdicts[i].proven, verdicts[i].minSlots, verdicts[i].wholeSlots});
  result = emit::writeBundle(verified, version());
  return true;
}
