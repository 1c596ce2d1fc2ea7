// SPDX-License-Identifier: Apache-2.0
#include "Programs.h"
#include "Input.h"
#include "InputKind.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::sim {

Programs::Programs(const std::string &path, const std::vector<std::pair<std::string, std::string>> &defines)
    : session(options), pipeline(session) {
  options.input = path;
  options.sema.defines = defines;
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
  const auto text = driver::readInput(options.input, driver::mostStreamedText, problem);
  if (!text) {
    error = "cannot read '" + options.input + "': " + problem;
    return false;
  }
  options.from = driver::kindOf(options.input, text->getBuffer());
  if (options.from != driver::From::Bundle)
    return compile(text->getBuffer());
  if (!options.sema.defines.empty()) {
    error = "-D needs a program as source, but '" + options.input + "' is a bundle";
    return false;
  }
  const llvm::StringRef bytes = text->getBuffer();
  if (auto status = bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file); !status.ok()) {
    error = options.input + ": " + status.message;
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
