// SPDX-License-Identifier: Apache-2.0
// The pipeline of one invocation: Sema → Lower → Schedule → Verify → Emit, as far as asked.
#include "gc3/Driver/Driver.h"
#include "Dependencies.h"
#include "Output.h"
#include "StageTimes.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/IR/Print.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

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
  bool verifyProgram(const ir::Program &program);
  void report(const ir::ProgramInfo &info, const verify::Finding &finding);
  std::string outputPath() const;
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
  if (options.dump || options.emit != Emit::Bundle)
    return "-";
  return options.input == "-" ? "-" : (llvm::sys::path::stem(options.input) + ".gc3b").str();
}

std::string Invocation::dependencyPath() const {
  if (!options.dependencyFile.empty())
    return options.dependencyFile;
  llvm::SmallString<256> path(outputPath());
  llvm::sys::path::replace_extension(path, "d");
  return path.str().str();
}

void Invocation::report(const ir::ProgramInfo &info, const verify::Finding &finding) {
  SourceRange range = finding.site == ir::None ? info.nameRange : info.sites[finding.site];
  Diagnostic &error = diags.error(DiagId::Unverified, range, "program '" + info.name + "': " + finding.message);
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
    report(*program.info, finding);
  verdicts.push_back(verdict);
  return verdict.holds();
}

bool Invocation::compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out) {
  if (options.emit == Emit::ChunkDag) {
    ir::print(out, dag);
    return true;
  }
  std::optional<ir::InstructionDag> instructions;
  {
    auto timer = times.start("lower");
    instructions = lower::lower(dag, options.lower, diags);
    dag = {}; // a large program's operations are not needed any more
  }
  if (!instructions)
    return false;
  if (options.emit == Emit::InstructionDag) {
    ir::print(out, *instructions);
    return true;
  }
  std::optional<ir::Program> program;
  {
    auto timer = times.start("schedule");
    program = schedule::schedule(*instructions, options.schedule, diags);
    instructions.reset();
  }
  if (!program)
    return false;
  programs.push_back(std::move(*program));
  if (!verifyProgram(programs.back()))
    return false;
  if (options.emit == Emit::GC3IR)
    ir::print(out, programs.back());
  return true;
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
  if (diags.hasErrors())
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
    times.print(llvm::errs());
  return diags.hasErrors() ? 1 : 0;
}

int gc3::driver::run(const Options &options) {
  return Invocation(options).run();
}
