// SPDX-License-Identifier: Apache-2.0
// Checks that the requested format can hold the program, and calls the writer of this format.
#include "Products.h"
#include "gc3/Emit/Dot.h"
#include "gc3/Emit/Html.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/SlotTracker.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::driver;

bool gc3::driver::wants(const Options &options, Emit stage) {
  return options.emit == stage || (options.emit == Emit::Dot && options.graph == stage);
}

void gc3::driver::report(Session &session, const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id) {
  SourceRange range = finding.site == ir::None ? info.nameRange : info.sites[finding.site];
  Diagnostic &error = session.diags.error(id, range, "program '" + info.name + "': " + finding.message);
  for (const verify::Finding::Note &note : finding.notes)
    error.note(note.site == ir::None ? SourceRange() : info.sites[note.site], note.message);
  if (id == DiagId::Unverified && session.options.from == From::Source)
    error.note({}, "no .gc3 program should cause this: it is a bug of gc3c; please report it, with the program");
}

bool gc3::driver::checkNumber(Session &session, const std::vector<const ir::ProgramInfo *> &programs) {
  const Options &options = session.options;
  bool holdsOne = options.emit == Emit::Dot || options.emit == Emit::Html || options.emit == Emit::MscclXml;
  if (!holdsOne || programs.size() <= 1)
    return true;
  std::string what = options.emit == Emit::MscclXml ? "a file of MSCCL XML holds" : "a picture shows";
  session.diags
      .error(DiagId::SeveralPrograms, programs[1]->nameRange,
             what + " one program, but '" + options.input + "' holds " + std::to_string(programs.size()) +
                 (options.from == From::Source ? "; choose one with --program" : ""))
      .note(programs[0]->nameRange, "'" + programs[0]->name + "' is another");
  return false;
}

static bool fitsPicture(Session &session, const ir::ProgramInfo &info, size_t size, const char *what) {
  if (size <= session.options.maxPicture)
    return true;
  session.diags.error(DiagId::PictureLimit, info.nameRange,
                      "a picture of '" + info.name + "' would have " + std::to_string(size) + " " + what +
                          ", more than " + std::to_string(session.options.maxPicture) +
                          "; draw it with smaller params (-D), or raise --max-picture");
  return false;
}

template <typename Graph>
static bool fitsFormat(Session &session, const Graph &graph) {
  return session.options.emit != Emit::Dot || fitsPicture(session, *graph.info, emit::dotNodes(graph), "nodes");
}

/// `edges` holds the dependencies of a Chunk DAG, which does not contain them; other graphs contain their edges.
template <typename Graph, typename... Edges>
static void writeTextOrDot(Session &session, llvm::raw_ostream &out, const Graph &graph, const Edges &...edges) {
  auto timer = session.times.start("emit");
  if (session.options.emit == Emit::Dot)
    emit::writeDot(out, graph, edges...);
  else
    ir::print(out, graph, edges...);
}

bool gc3::driver::writeGraph(Session &session, const ir::ChunkDag &dag, llvm::raw_ostream &out) {
  if (!fitsFormat(session, dag))
    return false;
  uint64_t most = ir::SlotTracker::mostLinks(dag.ops.size(), session.options.sema.maxSlots);
  ir::Dependencies edges = ir::dependencies(dag, most);
  if (edges.nodes() == dag.ops.size()) {
    writeTextOrDot(session, out, dag, edges);
    return true;
  }
  session.diags.error(DiagId::SlotBudget, dag.info->sites[dag.ops[edges.nodes()].site],
                      "with this operation the program's chunks make more than " + std::to_string(most) +
                          " dependencies, too many to analyze; use larger chunks, or allow more with --max-slots");
  return false;
}

bool gc3::driver::writeGraph(Session &session, const ir::InstructionDag &dag, llvm::raw_ostream &out) {
  if (!fitsFormat(session, dag))
    return false;
  writeTextOrDot(session, out, dag);
  return true;
}

static bool writePage(Session &session, const ir::Program &program, llvm::raw_ostream &out) {
  auto timer = session.times.start("emit");
  if (!fitsPicture(session, *program.info, emit::htmlSize(program), "steps and slots"))
    return false;
  emit::writeHtml(out, program, session.sources);
  return true;
}

verify::Options gc3::driver::verifyOptions(const Options &options) {
  return {.exact = options.verify == VerifyMode::Exact,
          .maxThreadBlocks = options.schedule.maxThreadBlocks,
          .maxSlots = options.sema.maxSlots};
}

/// Verifies that the program terminates with the messages and the number of FIFO slots that MSCCL runtimes use. A
/// program that scheduleForMsccl() returned passes this check.
bool gc3::driver::verifyCut(Session &session, const ir::Program &program) {
  uint64_t steps = 0;
  for (const ir::Step &step : program.steps)
    steps += step.count;
  if (steps > session.options.sema.maxOperations) {
    session.diags.error(DiagId::OperationBudget, program.info->nameRange,
                        "cut into steps of one chunk each, as MSCCL runtimes cut it for large buffers, program '" +
                            program.info->name + "' has " + std::to_string(steps) + " steps, more than " +
                            std::to_string(session.options.sema.maxOperations) + "; --max-ops allows more");
    return false;
  }
  auto timer = session.times.start("verify");
  verify::Verdict verdict = verify::verify(emit::cutIntoSlots(program), verifyOptions(session.options));
  for (verify::Finding &finding : verdict.findings) {
    std::string limit = finding.kind == verify::Finding::Deadlock
                            ? std::string(" (MSCCL runtimes have no more under ") + name(program.info->protocol) + ")"
                            : "";
    finding.message =
        "cut into steps of one chunk each, as MSCCL runtimes cut it for large buffers, " + finding.message + limit +
        (session.options.from == From::GC3IR ? "; write XML from the source, or from the Instruction DAG" : "");
    report(session, *program.info, finding,
           finding.kind == verify::Finding::TooLarge ? DiagId::SlotBudget : DiagId::RuntimeLimit);
  }
  return verdict.holds();
}

static bool writeMsccl(Session &session, const ir::Program &program, llvm::raw_ostream &out) {
  {
    auto timer = session.times.start("emit");
    if (!emit::writeMscclXml(out, program, session.options.mscclDialect, session.diags))
      return false;
  }
  return session.options.verify == VerifyMode::Off || verifyCut(session, program);
}

bool gc3::driver::writeProgram(Session &session, const ir::Program &program, llvm::raw_ostream &out) {
  if (session.options.emit == Emit::MscclXml)
    return writeMsccl(session, program, out);
  if (session.options.emit == Emit::Html)
    return writePage(session, program, out);
  if (!wants(session.options, Emit::GC3IR))
    return true;
  if (!fitsFormat(session, program))
    return false;
  writeTextOrDot(session, out, program);
  return true;
}
