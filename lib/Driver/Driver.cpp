// SPDX-License-Identifier: Apache-2.0
// The pipeline of one invocation: Sema → Lower → Schedule → Verify → Emit, as far as asked.
#include "gc3/Driver/Driver.h"
#include "Output.h"
#include "StageTimes.h"
#include "Version.h"
#include "gc3/Emit/Bundle.h"
#include "gc3/Emit/Dot.h"
#include "gc3/Emit/Html.h"
#include "gc3/IR/Print.h"
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
  bool compileProgram(ir::ChunkDag &&dag, llvm::raw_ostream &out);
  bool wants(Emit stage) const;
  bool isPicture() const { return options.emit == Emit::Dot || options.emit == Emit::Html; }
  bool oneProgram(const std::vector<ir::ChunkDag> &dags);
  bool fits(const ir::ProgramInfo &info, size_t size, const char *what);
  template <typename Graph>
  bool writeGraph(const Graph &graph, llvm::raw_ostream &out);
  bool writePage(const ir::Program &program, llvm::raw_ostream &out);
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
  bool isFile = options.emit == Emit::Bundle || options.emit == Emit::Html;
  if (options.dump || !isFile || options.input == "-")
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
  Diagnostic &error = diags.error(DiagId::SeveralPrograms, dags[1].info->nameRange,
                                  "a picture shows one program, and '" + options.input + "' holds " +
                                      std::to_string(dags.size()) + "; choose one with --program");
  error.note(dags[0].info->nameRange, "'" + dags[0].info->name + "' is another");
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
    program = schedule::schedule(*instructions, options.schedule, diags);
    instructions.reset();
  }
  if (!program)
    return false;
  programs.push_back(std::move(*program));
  if (!verifyProgram(programs.back()))
    return false;
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
    dags = sema::analyze(sources, diags, options.input, text, options.sema);
  }
  if (diags.hasErrors() || (isPicture() && !oneProgram(dags)))
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
