// SPDX-License-Identifier: Apache-2.0
#include "Programs.h"
#include "Input.h"
#include "InputKind.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::sim {

Programs::Programs(const CommandLine &commandLine) : line(commandLine), session(options), pipeline(session) {
  options.input = line.input;
  options.sema.defines = line.defines;
}

bool Programs::compile(llvm::StringRef text) {
  std::string bytes;
  const bool good = pipeline.compile(text, bytes);
  DiagnosticsPrinter(llvm::errs(), options.diagnostics, options.color).print(session.diags, options.input);
  if (!good || session.diags.hasErrors())
    return false;
  return bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok();
}

bool Programs::read(std::string &error) {
  std::string problem;
  const auto text = driver::readInput(line.input, driver::mostStreamedText, problem);
  if (!text) {
    error = "cannot read '" + line.input + "': " + problem;
    return false;
  }
  options.from = driver::kindOf(line.input, text->getBuffer());
  if (options.from != driver::From::Bundle)
    return compile(text->getBuffer());
  if (!line.defines.empty()) {
    error = "-D needs a program as source, but '" + line.input + "' is a bundle";
    return false;
  }
  const llvm::StringRef bytes = text->getBuffer();
  if (auto status = bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file); !status.ok()) {
    error = line.input + ": " + status.message;
    return false;
  }
  return true;
}

std::string Programs::placeOf(uint32_t program, uint32_t step) const {
  if (program >= pipeline.allPrograms().size())
    return {};
  const ir::Program &compiled = pipeline.allPrograms()[program];
  const SourceRange range = compiled.info->sites[compiled.steps[step].site];
  if (!range.isValid())
    return {};
  const SourceManager::LineColumn place = session.sources.place(range.begin);
  return (place.file + ":" + llvm::Twine(place.line)).str();
}

} // namespace gc3::sim
