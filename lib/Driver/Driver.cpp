// SPDX-License-Identifier: Apache-2.0
// The pipeline of one invocation: Sema → Lower → Schedule → Verify → Emit, from where the input stands as far as asked.
#include "gc3/Driver/Driver.h"
#include "Output.h"
#include "StageTimes.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/IR/Dispatch.h"
#include "gc3/IR/Print.h"
#include "gc3/IR/Read.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Verify/Verify.h"
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
  bool produce(std::string &result);
  bool compile(llvm::StringRef text, std::string &result);
  bool printSyntax(llvm::StringRef text, llvm::raw_ostream &out);
  bool compileSource(llvm::StringRef text, llvm::raw_ostream &out);
  template <typename IR>
  bool compileText(std::vector<IR> (*read)(SourceManager &, Diagnostics &, llvm::StringRef, llvm::StringRef,
                                           const ir::ReadOptions &),
                   llvm::StringRef text, llvm::raw_ostream &out);
  bool compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out);
  bool compileProgram(ir::InstructionDag &&dag, llvm::raw_ostream &out);
  bool compileProgram(ir::Program &&program, llvm::raw_ostream &out);
  bool verifyProgram(const ir::Program &program);
  void report(const ir::ProgramInfo &info, const verify::Finding &finding);
  std::string outputPath() const;

  const Options &options;
  SourceManager sources;
  Diagnostics diags;
  StageTimes times;
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
  return instructions && compileProgram(std::move(*instructions), out);
}

bool Invocation::compileProgram(ir::InstructionDag &&dag, llvm::raw_ostream &out) {
  if (options.emit == Emit::InstructionDag) {
    ir::print(out, dag);
    return true;
  }
  std::optional<ir::Program> program;
  {
    auto timer = times.start("schedule");
    program = schedule::schedule(dag, options.schedule, diags);
    dag = {};
  }
  return program && compileProgram(std::move(*program), out);
}

bool Invocation::compileProgram(ir::Program &&program, llvm::raw_ostream &out) {
  programs.push_back(std::move(program));
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

bool Invocation::compileSource(llvm::StringRef text, llvm::raw_ostream &out) {
  std::vector<ir::ChunkDag> dags;
  {
    auto timer = times.start("parse and evaluate");
    dags = sema::analyze(sources, diags, options.input, text, options.sema);
  }
  if (diags.hasErrors())
    return false;
  bool good = true;
  for (ir::ChunkDag &dag : dags)
    good &= compileProgram(std::move(dag), out);
  return good;
}

/// From the text of an IR on.
template <typename IR>
bool Invocation::compileText(std::vector<IR> (*read)(SourceManager &, Diagnostics &, llvm::StringRef, llvm::StringRef,
                                                     const ir::ReadOptions &),
                             llvm::StringRef text, llvm::raw_ostream &out) {
  std::vector<IR> parts;
  {
    auto timer = times.start("read");
    parts = read(sources, diags, options.input, text,
                 {.maxSlots = options.sema.maxSlots, .maxContributions = options.sema.maxSteps});
  }
  std::vector<const ir::ProgramInfo *> infos;
  for (const IR &part : parts)
    infos.push_back(part.info.get());
  ir::checkDispatch(infos, diags);
  if (diags.hasErrors())
    return false;
  for (const ir::ProgramInfo *info : infos)
    if (!info->collective.post.promises())
      diags.remark(info->nameRange, "nothing is promised ('ensures') of the output of '" + info->name +
                                        "': what it holds is not checked");
  bool good = true;
  for (IR &part : parts)
    good &= compileProgram(std::move(part), out);
  return good;
}

bool Invocation::compile(llvm::StringRef text, std::string &result) {
  llvm::raw_string_ostream out(result);
  if (options.emit == Emit::Ast)
    return printSyntax(text, out);
  bool good = false;
  switch (options.from) {
  case From::Source: good = compileSource(text, out); break;
  case From::InstructionDag: good = compileText(ir::readInstructionDag, text, out); break;
  case From::GC3IR: good = compileText(ir::readGC3IR, text, out); break;
  }
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

int Invocation::run() {
  std::string result;
  bool good = !sameFile(options.input, outputPath());
  if (!good)
    diags.error(DiagId::CannotWrite, {}, "the output '" + outputPath() + "' is the input; choose another with -o");
  good = good && produce(result);
  if (good && !diags.hasErrors()) {
    std::string path = outputPath();
    if (std::string problem = writeOutput(path, result); !problem.empty())
      diags.error(DiagId::CannotWrite, {}, "cannot write '" + path + "': " + problem);
  }
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (options.timeReport)
    times.print(llvm::errs());
  return diags.hasErrors() ? 1 : 0;
}

int gc3::driver::run(const Options &options) {
  return Invocation(options).run();
}
