// SPDX-License-Identifier: Apache-2.0
// Diagnostics for programs: JSON Lines, so that the output of many compilations can be concatenated and read as it
// comes. docs/diagnostics.md has the schema; a change that breaks readers raises the version.
#include "gc3/Support/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
namespace json = llvm::json;

static constexpr int schemaVersion = 1;

namespace {

class Printer {
public:
  Printer(llvm::raw_ostream &out, const SourceManager &sources) : out(out), sources(sources) {}

  void print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
             llvm::ArrayRef<Note> notes);

private:
  static void place(json::OStream &object, llvm::StringRef name, const SourceManager::Place &place);
  void what(json::OStream &object, SourceRange range, llvm::StringRef message) const;

  llvm::raw_ostream &out;
  const SourceManager &sources;
};

} // namespace

void Printer::place(json::OStream &object, llvm::StringRef name, const SourceManager::Place &place) {
  object.attributeObject(name, [&] {
    object.attribute("line", place.line);
    object.attribute("column", place.column);
  });
}

/// A message may quote a file's bytes and a path may have any, so both may be no UTF-8.
void Printer::what(json::OStream &object, SourceRange range, llvm::StringRef message) const {
  object.attribute("message", json::fixUTF8(message));
  if (!range.isValid())
    return;
  SourceManager::Place begin = sources.place(range.begin);
  object.attribute("file", json::fixUTF8(begin.file));
  place(object, "begin", begin);
  place(object, "end", sources.place(range.end));
}

void Printer::print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
                    llvm::ArrayRef<Note> notes) {
  json::OStream object(out);
  object.object([&] {
    object.attribute("version", schemaVersion);
    object.attribute("severity", severity);
    object.attribute("id", id);
    what(object, range, message);
    object.attributeArray("notes", [&] {
      for (const Note &note : notes)
        object.object([&] { what(object, note.range, note.message); });
    });
  });
  out << '\n';
}

void Diagnostics::printJson(llvm::raw_ostream &out) const {
  Printer printer(out, sources);
  for (const Diagnostic &record : records)
    printer.print(record.severity == Severity::Error ? "error" : "remark", name(record.id), record.range,
                  record.message, record.notes);
  if (omitted != 0)
    printer.print("note", "error-limit", {}, std::to_string(omitted) + " more not shown; --error-limit shows more", {});
}
