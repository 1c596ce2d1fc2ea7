// SPDX-License-Identifier: Apache-2.0
// Finds imports next to the importing file, then along -I, then in the standard library, which is embedded in the
// compiler.
#include "Modules.h"
#include "gc3/Parse/Parse.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::sema;

namespace {

class Loader {
public:
  Loader(SourceManager &allSources, Diagnostics &sink, const SemaOptions &semaOptions, std::vector<std::string> *read)
      : sources(allSources), diags(sink), options(semaOptions), filesRead(read) {}

  /// Parses `text` and loads its imports, then adds it to the result. `key` identifies the file, however its path is
  /// spelt.
  const ast::File *load(const std::string &key, llvm::StringRef name, llvm::StringRef text);
  void loadStandard(const EmbeddedFile &file) {
    modules.standard.insert(load("<" + file.name.str() + ">", file.name, file.text));
  }
  void importFile(const ast::Import &import, llvm::StringRef importer);

  Modules modules;

private:
  bool importFromDisk(const ast::Import &import, llvm::StringRef path);

  static constexpr size_t maxChain = 200;

  SourceManager &sources;
  Diagnostics &diags;
  const SemaOptions &options;
  std::vector<std::string> *filesRead;
  llvm::StringMap<bool> seen;
  std::vector<std::string> open;        ///< keys of the files being loaded, outermost first
  std::vector<SourceRange> openImports; ///< imports that opened these files, from the second file on
};

} // namespace

const ast::File *Loader::load(const std::string &key, llvm::StringRef name, llvm::StringRef text) {
  seen[key] = true;
  std::unique_ptr<const ast::File> file = parse::parseFile(sources, diags, name, text);
  if (!file)
    return nullptr;
  open.push_back(key);
  for (const ast::Import &import : file->imports)
    importFile(import, name);
  open.pop_back();
  modules.files.push_back(std::move(file));
  return modules.files.back().get();
}

static bool isRegularFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && llvm::sys::fs::is_regular_file(status);
}

bool Loader::importFromDisk(const ast::Import &import, llvm::StringRef path) {
  llvm::SmallString<256> key;
  if (llvm::sys::fs::real_path(path, key))
    return false;
  auto cycle = std::find(open.begin(), open.end(), key.str());
  if (cycle != open.end()) {
    Diagnostic &error =
        diags.error(DiagId::ImportCycle, import.range, "'" + import.path.str() + "' is imported by itself");
    for (size_t i = static_cast<size_t>(cycle - open.begin()); i < openImports.size(); ++i)
      error.note(openImports[i], "through this import");
    return true;
  }
  if (seen.count(key))
    return true;
  if (open.size() >= maxChain) {
    diags.error(DiagId::TooDeep, import.range,
                "more than " + std::to_string(maxChain) + " files that import each other in a chain");
    return true;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer) {
    diags.error(DiagId::CannotRead, import.range, "cannot read '" + path.str() + "': " + buffer.getError().message());
    return true;
  }
  if (filesRead)
    filesRead->push_back(path.str());
  openImports.push_back(import.range);
  load(key.str().str(), path, (*buffer)->getBuffer());
  openImports.pop_back();
  return true;
}

void Loader::importFile(const ast::Import &import, llvm::StringRef importer) {
  std::vector<llvm::SmallString<256>> places;
  if (llvm::sys::path::is_absolute(import.path)) {
    places.emplace_back(import.path);
  } else {
    places.emplace_back(importer == "-" ? "" : llvm::sys::path::parent_path(importer));
    for (const std::string &directory : options.includeDirs)
      places.emplace_back(directory);
    for (llvm::SmallString<256> &place : places)
      llvm::sys::path::append(place, import.path);
  }
  for (const llvm::SmallString<256> &place : places)
    if (isRegularFile(place) && importFromDisk(import, place))
      return;
  for (const EmbeddedFile &file : standardFiles()) {
    if (file.name != import.path)
      continue;
    if (!seen.count("<" + file.name.str() + ">"))
      loadStandard(file);
    return;
  }
  std::string searched;
  for (const llvm::SmallString<256> &place : places)
    searched += (searched.empty() ? "'" : ", '") + place.str().str() + "'";
  std::vector<std::string> standard;
  for (const EmbeddedFile &file : standardFiles())
    standard.push_back(file.name.str());
  diags.error(DiagId::ImportNotFound, import.range,
              "no file '" + import.path.str() + "' to import; looked for " + searched + " and in the standard library" +
                  suggestion(import.path, standard));
}

Modules gc3::sema::loadModules(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                               const SemaOptions &options, std::vector<std::string> *filesRead) {
  Loader loader(sources, diags, options, filesRead);
  const EmbeddedFile *collectives =
      llvm::find_if(standardFiles(), [](const EmbeddedFile &file) { return file.name == "std/collectives.gc3"; });
  loader.loadStandard(*collectives);
  llvm::SmallString<256> key;
  if (name == "-" || llvm::sys::fs::real_path(name, key))
    key = "<main>";
  loader.modules.main = loader.load(key.str().str(), name, text);
  return std::move(loader.modules);
}
