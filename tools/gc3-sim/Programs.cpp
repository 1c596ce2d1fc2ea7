// SPDX-License-Identifier: Apache-2.0
#include "Programs.h"
#include "Input.h"
#include "InputKind.h"
#include "OptionText.h"
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

/// Reads the text, and finds its kind. Returns null after an error.
std::unique_ptr<llvm::MemoryBuffer> Programs::open(std::string &error) {
  std::string problem;
  auto text = driver::readInput(options.input, driver::mostStreamedText, problem);
  if (text)
    options.from = driver::kindOf(options.input, text->getBuffer());
  else
    error = "cannot read '" + options.input + "': " + problem;
  return text;
}

bool Programs::load(llvm::StringRef text, std::string &error) {
  if (options.from != driver::From::Bundle)
    return compile(text);
  if (auto status = bundle::BundleFile::openMemory(text.data(), text.size()).moveTo(file); !status.ok()) {
    error = options.input + ": " + status.message;
    return false;
  }
  return true;
}

bool Programs::read(std::string &error) {
  const auto text = open(error);
  if (!text)
    return false;
  if (options.from == driver::From::Bundle && !options.sema.defines.empty()) {
    error = "-D needs a program as source, but '" + options.input + "' is a bundle";
    return false;
  }
  return load(text->getBuffer(), error);
}

bool Programs::readAmongOthers(std::set<std::string> &used, std::string &error) {
  const auto text = open(error);
  if (!text)
    return false;
  std::optional<std::vector<std::string>> params(std::in_place);
  if (options.from == driver::From::Source && !options.sema.defines.empty()) {
    SourceManager sources;
    Diagnostics diags(sources);
    params = sema::listParams(sources, diags, options.input, text->getBuffer(), options.sema);
  }
  if (params) // otherwise the compilation reports the error
    options.sema.defines = ownDefines(options.sema.defines, *params, used);
  return load(text->getBuffer(), error);
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
