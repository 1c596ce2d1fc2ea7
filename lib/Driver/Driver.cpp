// SPDX-License-Identifier: Apache-2.0
// The pipeline of one invocation: Sema → Lower → Schedule → Verify → Emit, as far as asked.
#include "gc3/Driver/Driver.h"
#include "Dependencies.h"
#include "Output.h"
#include "StageTimes.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/Dot.h"
#include "gc3/Emit/Html.h"
#include "gc3/Emit/MscclXml.h"
#include "gc3/IR/Print.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Sema/StandardLibrary.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::driver;

namespace {

class Invocation {
public:
  explicit Invocation(const Options &options) : options(options), diags(sources, options.errorLimit) {}
  int run();

private:
  bool checkOutputs();
  bool produce(std::string &result);
  bool compile(llvm::StringRef text, std::string &result);
  bool printSyntax(llvm::StringRef text, llvm::raw_ostream &out);
  bool compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out);
  bool wants(Emit stage) const;
  bool holdsOneProgram() const {
    return options.emit == Emit::Dot || options.emit == Emit::Html || options.emit == Emit::MscclXml;
  }
  bool oneProgram(const std::vector<ir::ChunkDag> &dags);
  bool fits(const ir::ProgramInfo &info, size_t size, const char *what);
  template <typename Graph>
  bool writeGraph(const Graph &graph, llvm::raw_ostream &out);
  bool writePage(const ir::Program &program, llvm::raw_ostream &out);
  bool verifyProgram(const ir::Program &program);
  bool printMsccl(const ir::Program &program, llvm::raw_ostream &out);
  void report(const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id);
  std::string outputPath() const;
  uint64_t instructions() const;
  std::string dependencyPath() const;
  bool checkAgainstInputs(llvm::ArrayRef<OutputFile> files);
  void write(const std::string &result);

  const Options &options;
  SourceManager sources;
  Diagnostics diags;
  StageTimes times;
  std::vector<std::string> filesRead; // the input and what it imports, without standard input
  std::vector<ir::Program> programs;
  std::vector<verify::Verdict> verdicts; // by program
};

} // namespace

std::string Invocation::outputPath() const {
  if (!options.output.empty())
    return options.output;
  bool isFile = options.emit == Emit::Bundle || options.emit == Emit::Html;
  if (options.listStd || options.dump || !isFile || options.input == "-")
    return "-";
  return (llvm::sys::path::stem(options.input) + (options.emit == Emit::Html ? ".html" : ".gc3b")).str();
}

/// True if the result is made from what this stage makes, and from nothing after it.
bool Invocation::wants(Emit stage) const {
  return options.emit == stage || (options.emit == Emit::Dot && options.graph == stage);
}

bool Invocation::oneProgram(const std::vector<ir::ChunkDag> &dags) {
  if (dags.size() == 1)
    return true;
  std::string what = options.emit == Emit::MscclXml ? "a file of MSCCL XML holds" : "a picture shows";
  diags
      .error(DiagId::SeveralPrograms, dags[1].info->nameRange,
             what + " one program, and '" + options.input + "' holds " + std::to_string(dags.size()) +
                 "; choose one with --program")
      .note(dags[0].info->nameRange, "'" + dags[0].info->name + "' is another");
  return false;
}

bool Invocation::fits(const ir::ProgramInfo &info, size_t size, const char *what) {
  if (size <= options.maxPicture)
    return true;
  diags.error(DiagId::PictureLimit, info.nameRange,
              "a picture of '" + info.name + "' would have " + std::to_string(size) + " " + what + ", more than " +
                  std::to_string(options.maxPicture) + "; draw it with smaller params (-D), or raise --max-picture");
  return false;
}

template <typename Graph>
bool Invocation::writeGraph(const Graph &graph, llvm::raw_ostream &out) {
  if (options.emit != Emit::Dot) {
    ir::print(out, graph);
    return true;
  }
  if (!fits(*graph.info, emit::dotNodes(graph), "nodes"))
    return false;
  emit::writeDot(out, graph);
  return true;
}

bool Invocation::writePage(const ir::Program &program, llvm::raw_ostream &out) {
  if (!fits(*program.info, emit::htmlSize(program), "steps and slots"))
    return false;
  emit::writeHtml(out, program, sources);
  return true;
}

/// Of all programs, as scheduled.
uint64_t Invocation::instructions() const {
  uint64_t sum = 0;
  for (const ir::Program &program : programs)
    sum += program.steps.size();
  return sum;
}

std::string Invocation::dependencyPath() const {
  if (!options.dependencyFile.empty())
    return options.dependencyFile;
  llvm::SmallString<256> path(outputPath());
  llvm::sys::path::replace_extension(path, "d");
  return path.str().str();
}

void Invocation::report(const ir::ProgramInfo &info, const verify::Finding &finding, DiagId id) {
  SourceRange range = finding.site == ir::None ? info.nameRange : info.sites[finding.site];
  Diagnostic &error = diags.error(id, range, "program '" + info.name + "': " + finding.message);
  for (const verify::Finding::Note &note : finding.notes)
    error.note(note.site == ir::None ? SourceRange() : info.sites[note.site], note.message);
}

bool Invocation::verifyProgram(const ir::Program &program) {
  verify::Verdict verdict;
  if (options.verify != VerifyMode::Off) {
    auto timer = times.start("verify");
    verdict = verify::verify(program, {.exact = options.verify == VerifyMode::Exact});
  }
  for (const verify::Finding &finding : verdict.findings)
    report(*program.info, finding, DiagId::Unverified);
  verdicts.push_back(verdict);
  return verdict.holds();
}

/// The MSCCL runtimes have few slots, and may cut a message of several slots into as many.
static schedule::Options forMsccl(schedule::Options options, const ir::InstructionDag &dag) {
  options.fifoSlots = std::min(options.fifoSlots, emit::mscclSlots(dag.info->protocol));
  options.wholeMessages = std::all_of(dag.instructions.begin(), dag.instructions.end(),
                                      [](const ir::Instruction &instruction) { return instruction.count == 1; });
  return options;
}

/// Besides what the format can't say, a program must end with the messages and slots that the MSCCL runtimes make of
/// it.
bool Invocation::printMsccl(const ir::Program &program, llvm::raw_ostream &out) {
  {
    auto timer = times.start("emit");
    if (!emit::writeMscclXml(out, program, options.mscclDialect, diags))
      return false;
  }
  if (options.verify == VerifyMode::Off)
    return true;
  auto timer = times.start("verify");
  verify::Verdict verdict = verify::verify(emit::cutIntoPieces(program), {});
  bool simple = program.info->protocol == ir::Protocol::Simple;
  for (verify::Finding &finding : verdict.findings) {
    finding.message = "cut into steps of one chunk each, as MSCCL runtimes cut it for large buffers, " +
                      finding.message + "; move fewer chunks at once" +
                      (simple ? ", or use protocol LL, for which they have 8 slots" : "");
    report(*program.info, finding, DiagId::RuntimeLimit);
  }
  return verdict.holds();
}

bool Invocation::compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out) {
  if (wants(Emit::ChunkDag))
    return writeGraph(dag, out);
  std::optional<ir::InstructionDag> instructions;
  {
    auto timer = times.start("lower");
    instructions = lower::lower(dag, options.lower, diags);
    dag = {}; // a large program's operations are not needed any more
  }
  if (!instructions)
    return false;
  if (wants(Emit::InstructionDag))
    return writeGraph(*instructions, out);
  std::optional<ir::Program> program;
  {
    auto timer = times.start("schedule");
    program = schedule::schedule(
        *instructions, options.emit == Emit::MscclXml ? forMsccl(options.schedule, *instructions) : options.schedule,
        diags);
    instructions.reset();
  }
  if (!program)
    return false;
  programs.push_back(std::move(*program));
  if (!verifyProgram(programs.back()))
    return false;
  if (options.emit == Emit::MscclXml)
    return printMsccl(programs.back(), out);
  if (options.emit == Emit::Html)
    return writePage(programs.back(), out);
  return !wants(Emit::GC3IR) || writeGraph(programs.back(), out);
}

bool Invocation::printSyntax(llvm::StringRef text, llvm::raw_ostream &out) {
  auto file = parse::parseFile(sources, diags, options.input, text);
  if (diags.hasErrors())
    return false;
  parse::printAst(out, *file);
  return true;
}

bool Invocation::compile(llvm::StringRef text, std::string &result) {
  llvm::raw_string_ostream out(result);
  if (options.emit == Emit::Ast)
    return printSyntax(text, out);
  std::vector<ir::ChunkDag> dags;
  {
    auto timer = times.start("parse and evaluate");
    dags = sema::analyze(sources, diags, options.input, text, options.sema, &filesRead);
  }
  if (diags.hasErrors() || (holdsOneProgram() && !oneProgram(dags)))
    return false;
  bool good = true;
  for (ir::ChunkDag &dag : dags)
    good &= compileProgram(std::move(dag), out);
  if (!good || options.emit != Emit::Bundle)
    return good;
  auto timer = times.start("emit");
  std::vector<emit::VerifiedProgram> verified;
  for (size_t i = 0; i != programs.size(); ++i)
    verified.push_back({&programs[i], verdicts[i].proven, verdicts[i].minSlots, verdicts[i].wholeSlots});
  result = emit::writeBundle(verified, version());
  return true;
}

bool Invocation::produce(std::string &result) {
  if (options.listStd) {
    llvm::raw_string_ostream out(result);
    sema::listStandardLibrary(out);
    return true;
  }
  if (options.dump) {
    llvm::raw_string_ostream out(result);
    std::string problem = emit::dumpBundle(out, options.input == "-" ? "/dev/stdin" : options.input);
    if (!problem.empty())
      diags.error(DiagId::CannotRead, {}, options.input + ": " + problem);
    return problem.empty();
  }
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!file) {
    diags.error(DiagId::CannotRead, {}, "cannot read '" + options.input + "': " + file.getError().message());
    return false;
  }
  return compile((*file)->getBuffer(), result);
}

/// What can be said against the outputs' paths before anything is read.
bool Invocation::checkOutputs() {
  std::string path = outputPath();
  if (sameFile(options.input, path))
    diags.error(DiagId::CannotWrite, {}, "the output '" + path + "' is the input; choose another with -o");
  if (!options.dependencies)
    return !diags.hasErrors();
  if (path == "-")
    diags.error(DiagId::CannotWrite, {},
                "-MD says what the output depends on, and standard output is no file; name one with -o");
  else if (sameFile(dependencyPath(), path))
    diags.error(DiagId::CannotWrite, {}, "the dependencies '" + path + "' are the output; choose another with -MF");
  return !diags.hasErrors();
}

/// What can be said once the imports are known.
bool Invocation::checkAgainstInputs(llvm::ArrayRef<OutputFile> files) {
  for (const OutputFile &file : files)
    for (const std::string &name : filesRead)
      if (sameFile(file.path, name))
        diags.error(DiagId::CannotWrite, {},
                    "the output '" + file.path + "' is read as '" + name + "'; choose another");
  auto breaksLine = [](llvm::StringRef path) { return path.contains('\n'); };
  if (options.dependencies && (breaksLine(outputPath()) || llvm::any_of(filesRead, breaksLine)))
    diags.error(DiagId::CannotWrite, {}, "-MD can't write a path with a line break: no Makefile can name it");
  return !diags.hasErrors();
}

void Invocation::write(const std::string &result) {
  std::string rule;
  llvm::SmallVector<OutputFile, 2> files;
  if (options.dependencies) {
    rule = dependencyRule(outputPath(), filesRead, options.phonyDependencies);
    files.push_back({dependencyPath(), rule}); // before the output: make trusts an output that is new
  }
  files.push_back({outputPath(), result});
  if (!checkAgainstInputs(files))
    return;
  if (std::optional<WriteFailure> failure = writeOutputs(files))
    diags.error(DiagId::CannotWrite, {}, "cannot write '" + failure->path + "': " + failure->problem);
}

int Invocation::run() {
  if (options.input != "-")
    filesRead.push_back(options.input);
  std::string result;
  if (checkOutputs() && produce(result) && !diags.hasErrors())
    write(result);
  diags.print(llvm::errs(), options.diagnostics);
  if (options.timeReport)
    times.print(llvm::errs(), instructions());
  return diags.hasErrors() ? 1 : 0;
}

int gc3::driver::run(const Options &options) {
  return Invocation(options).run();
}
