// SPDX-License-Identifier: Apache-2.0
// Prints diagnostics as JSON Lines, so that a program can concatenate and stream the output of many compilations.
// docs/diagnostics.md has the schema. A change that breaks readers must increase the version.
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/JsonWriter.h"

using namespace gc3;

static constexpr int schemaVersion = 1;

namespace {

class Printer {
public:
  Printer(llvm::raw_ostream &out, const SourceManager &sources, llvm::StringRef input)
      : out(out), sources(sources), input(input) {}

  void print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
             llvm::ArrayRef<Note> notes);

private:
  void where(JsonWriter &json, SourceRange range);
  void place(JsonWriter &json, llvm::StringRef key, uint32_t offset);

  llvm::raw_ostream &out;
  const SourceManager &sources;
  llvm::StringRef input;
};

} // namespace

static void member(JsonWriter &json, llvm::StringRef key, llvm::StringRef value) {
  json.key(key);
  json.value(value);
}

void Printer::place(JsonWriter &json, llvm::StringRef key, uint32_t offset) {
  SourceManager::LineColumn place = sources.place(offset);
  json.key(key);
  json.object([&] {
    json.key("line");
    json.value(int64_t(place.line));
    json.key("column");
    json.value(int64_t(place.column));
  });
}

void Printer::where(JsonWriter &json, SourceRange range) {
  if (!range.isValid())
    return;
  member(json, "file", sources.place(range.begin).file);
  place(json, "begin", range.begin);
  place(json, "end", range.end);
}

void Printer::print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
                    llvm::ArrayRef<Note> notes) {
  JsonWriter json(out);
  json.object([&] {
    json.key("version");
    json.value(int64_t(schemaVersion));
    member(json, "severity", severity);
    member(json, "id", id);
    member(json, "message", message);
    member(json, "input", input);
    where(json, range);
    json.key("notes");
    json.array([&] {
      for (const Note &note : notes)
        json.object([&] {
          member(json, "message", note.message);
          where(json, note.range);
        });
    });
  });
  out << '\n';
}

void Diagnostics::printJson(llvm::raw_ostream &out, std::string_view input) const {
  Printer printer(out, sources, input);
  for (const Diagnostic &record : records)
    printer.print(name(record.severity), name(record.id), record.range, record.message, record.notes);
  if (omitted != 0)
    printer.print("note", "error-limit", {}, std::to_string(omitted) + " more not shown; --error-limit shows more", {});
}
