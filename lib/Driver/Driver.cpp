// SPDX-License-Identifier: Apache-2.0
// One invocation of gc3c: reads its input, produces its result, and writes the result to files.
#include "gc3/Driver/Driver.h"
#include "Explain.h"
#include "Input.h"
#include "Output.h"
#include "Pipeline.h"
#include "VerifyOnly.h"
#include "gc3/Import/Bundle.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Sema/StandardLibrary.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::driver;

namespace {

class Invocation {
public:
  explicit Invocation(const Options &options)
      : options(options), session(options), diags(session.diags), pipeline(session) {}
  int run();

private:
  bool checkOutputs();
  bool produce(std::string &result);
  bool checkAgainstInputs(llvm::ArrayRef<OutputFile> files);
  void write(const std::string &result);
  std::string outputPath() const;
  std::string dependencyPath() const;

  const Options &options;
  Session session;
  Diagnostics &diags;
  Pipeline pipeline;
};

} // namespace

std::string Invocation::outputPath() const {
  if (!options.output.empty())
    return options.output;
  bool isFile = options.emit == Emit::Bundle || options.emit == Emit::Html;
  if (options.listStd || !options.explain.empty() || options.dump || !isFile || options.input == "-")
    return "-";
  return (llvm::sys::path::stem(options.input) + (options.emit == Emit::Html ? ".html" : ".gc3b")).str();
}

std::string Invocation::dependencyPath() const {
  if (!options.dependencyFile.empty())
    return options.dependencyFile;
  llvm::SmallString<256> path(outputPath());
  llvm::sys::path::replace_extension(path, "d");
  return path.str().str();
}

/// Checks the output paths before any file is read.
bool Invocation::checkOutputs() {
  std::string path = outputPath();
  if (sameFile(options.input, path) && options.output.empty() && options.emit == Emit::Bundle)
    diags.error(DiagId::CannotRead, {},
                "'" + options.input +
                    "' is named as a bundle, not as a program; --dump prints it, and gc3-run runs it");
  else if (sameFile(options.input, path))
    diags.error(DiagId::CannotWrite, {}, "the output '" + path + "' is the input; choose another with -o");
  if (!options.dependencies)
    return !diags.hasErrors();
  if (path == "-")
    diags.error(DiagId::CannotWrite, {}, "-MD needs an output file, not standard output; name one with -o");
  else if (sameFile(dependencyPath(), path))
    diags.error(DiagId::CannotWrite, {}, "the dependencies '" + path + "' are the output; choose another with -MF");
  return !diags.hasErrors();
}

bool Invocation::produce(std::string &result) {
  if (options.listStd) {
    llvm::raw_string_ostream out(result);
    sema::listStandardLibrary(out);
    return true;
  }
  if (!options.explain.empty()) {
    llvm::raw_string_ostream out(result);
    if (options.explain == "all")
      listIds(out);
    else
      explain(*findId(options.explain), out);
    return true;
  }
  if (options.dump) {
    llvm::raw_string_ostream out(result);
    imports::BundleProblem problem =
        imports::dumpBundle(out, options.input == "-" ? "/dev/stdin" : options.input, readOptions(options));
    if (!problem.empty())
      diags.error(problem.id, {}, options.input + ": " + problem.message);
    return problem.empty();
  }
  bool isSource = options.from == From::Source || options.emit == Emit::Ast;
  std::string problem;
  auto file = readInput(options.input, isSource ? parse::MaxFileSize : mostStreamedText, problem);
  if (!file) {
    diags.error(DiagId::CannotRead, {}, "cannot read '" + options.input + "': " + problem);
    return false;
  }
  return pipeline.compile(file->getBuffer(), result);
}

/// Checks the output paths against all files that were read. The imports are known only after compilation.
bool Invocation::checkAgainstInputs(llvm::ArrayRef<OutputFile> files) {
  for (const OutputFile &file : files)
    for (const std::string &name : session.filesRead)
      if (sameFile(file.path, name))
        diags.error(DiagId::CannotWrite, {},
                    "the output '" + file.path + "' is read as '" + name + "'; choose another");
  auto breaksLine = [](llvm::StringRef path) { return path.contains('\n'); };
  if (options.dependencies && (breaksLine(outputPath()) || llvm::any_of(session.filesRead, breaksLine)))
    diags.error(DiagId::CannotWrite, {}, "-MD can't write a path with a line break: no Makefile can name it");
  return !diags.hasErrors();
}

void Invocation::write(const std::string &result) {
  std::string rule;
  llvm::SmallVector<OutputFile, 2> files;
  if (options.dependencies) {
    rule = dependencyRule(outputPath(), session.filesRead, options.phonyDependencies);
    // The rule comes before the output. If gc3c failed after it had written only the output, make would not run gc3c
    // again for the missing rule.
    files.push_back({dependencyPath(), rule});
  }
  files.push_back({outputPath(), result});
  if (!checkAgainstInputs(files))
    return;
  auto timer = session.times.start("write");
  if (std::optional<WriteFailure> failure = writeOutputs(files))
    diags.error(DiagId::CannotWrite, {}, "cannot write '" + failure->path + "': " + failure->problem);
}

int Invocation::run() {
  if (options.input != "-")
    session.filesRead.push_back(options.input);
  std::string result;
  if (checkOutputs() && produce(result) && !diags.hasErrors())
    write(result);
  DiagnosticsPrinter(llvm::errs(), options.diagnostics, options.color).print(diags, options.input);
  if (options.timeReport)
    session.times.print(llvm::errs(), pipeline.instructions());
  return diags.hasErrors() ? 1 : 0;
}

int gc3::driver::run(const Options &options) {
  return options.verifyOnly.empty() ? Invocation(options).run() : verifyFiles(options);
}
