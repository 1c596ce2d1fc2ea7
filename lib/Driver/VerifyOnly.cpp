// SPDX-License-Identifier: Apache-2.0
// Prints one verdict per file. Each file has its own session, and is compiled to GC3-IR or read as GC3-IR.
#include "VerifyOnly.h"
#include "Input.h"
#include "InputKind.h"
#include "Pipeline.h"
#include "gc3/Support/Quantity.h"
#include "gc3/Support/Utf8.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::driver;

/// Returns a description such as `allreduce on 8 ranks, in place, 1 slot`.
static std::string describe(const ir::Program &program, const verify::Verdict &verdict) {
  const ir::Collective &collective = program.info->collective;
  return collective.name + " on " + quantity(collective.ranks, "rank") +
         (collective.inPlace() ? ", in place, " : ", out of place, ") + quantity(verdict.minSlots, "slot");
}

/// Returns the verdict and its reason, without the file's name.
static std::string verdictOf(llvm::StringRef path, const Diagnostics &diags, const Pipeline &pipeline) {
  for (const Diagnostic &record : diags.all()) {
    if (record.severity != Severity::Error)
      continue;
    bool wrong =
        record.id == DiagId::Unverified || record.id == DiagId::RuntimeLimit || record.id == DiagId::Postcondition;
    llvm::StringRef message = record.message;
    if (message.startswith(path) && message.drop_front(path.size()).startswith(": "))
      message = message.drop_front(path.size() + 2);
    return (wrong ? "wrong: " : "rejected: ") + message.str() + " [" + std::string(name(record.id)) + "]";
  }
  bool promises = true;
  std::string descriptions;
  for (size_t i = 0; i != pipeline.allPrograms().size(); ++i) {
    const ir::Program &program = pipeline.allPrograms()[i];
    promises &= program.info->collective.post.promises();
    if (pipeline.allPrograms().size() > 1)
      descriptions += (i == 0 ? "" : "; ") + program.info->name + ": ";
    descriptions += describe(program, pipeline.allVerdicts()[i]);
  }
  return (promises ? "right: " : "unchecked: ") + descriptions;
}

/// Returns false if the file has an error.
static bool verifyFile(const std::string &path, const Options &options, DiagnosticsPrinter &printer) {
  Options own = options;
  own.input = path;
  std::string problem;
  auto file = readInput(path, mostStreamedText, problem);
  if (file)
    own.from = kindOf(path, file->getBuffer());
  Session session(own);
  Pipeline pipeline(session);
  std::string nothing;
  if (file)
    pipeline.compile(file->getBuffer(), nothing);
  else
    session.diags.error(DiagId::CannotRead, {}, "cannot read '" + path + "': " + problem);
  // one line, because visible() escapes line breaks
  llvm::outs() << visible(path + ": " + verdictOf(path, session.diags, pipeline)) << '\n';
  llvm::outs().flush(); // the verdict appears before the diagnostics
  printer.print(session.diags, path);
  return !session.diags.hasErrors();
}

int gc3::driver::verifyFiles(const Options &options) {
  bool good = true;
  DiagnosticsPrinter printer(llvm::errs(), options.diagnostics, options.color);
  for (const std::string &path : options.verifyOnly) {
    good &= verifyFile(path, options, printer);
    if (llvm::outs().has_error())
      break; // later verdicts would be lost, too; gc3c's main() reports the error
  }
  return good ? 0 : 1;
}
