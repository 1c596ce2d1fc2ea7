// SPDX-License-Identifier: Apache-2.0
// Diagnostics for programs: JSON Lines, so that the output of many compilations can be concatenated and read as it
// comes. docs/diagnostics.md has the schema; a change that breaks readers raises the version. Written without
// llvm/Support/JSON.h, because clang can't compile LLVM 14's as C++20.
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;

static constexpr int schemaVersion = 1;

static std::string escaped(char c) {
  switch (c) {
  case '"': return "\\\"";
  case '\\': return "\\\\";
  case '\n': return "\\n";
  case '\t': return "\\t";
  default: break;
  }
  auto code = static_cast<unsigned char>(c);
  return code < 0x20 ? std::string("\\u00") + llvm::hexdigit(code >> 4, true) + llvm::hexdigit(code & 15, true)
                     : std::string(1, c);
}

/// A JSON string. A message may quote a file's bytes and a path may have any: what is no UTF-8 becomes U+FFFD.
static std::string quoted(llvm::StringRef text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
    size_t length = 1;
    if (!llvm::isLegalUTF8Sequence(bytes, bytes + text.size()))
      out += "\xEF\xBF\xBD";
    else if (length = llvm::getNumBytesForUTF8(*bytes); length == 1)
      out += escaped(text.front());
    else
      out += text.substr(0, length);
    text = text.drop_front(length);
  }
  return out + "\"";
}

namespace {

class Printer {
public:
  Printer(llvm::raw_ostream &out, const SourceManager &sources) : out(out), sources(sources) {}

  void print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
             llvm::ArrayRef<Note> notes);

private:
  void what(SourceRange range, llvm::StringRef message);
  void place(llvm::StringRef key, uint32_t offset);

  llvm::raw_ostream &out;
  const SourceManager &sources;
};

} // namespace

void Printer::place(llvm::StringRef key, uint32_t offset) {
  SourceManager::Place place = sources.place(offset);
  out << ",\"" << key << "\":{\"line\":" << place.line << ",\"column\":" << place.column << '}';
}

void Printer::what(SourceRange range, llvm::StringRef message) {
  out << "\"message\":" << quoted(message);
  if (!range.isValid())
    return;
  out << ",\"file\":" << quoted(sources.place(range.begin).file);
  place("begin", range.begin);
  place("end", range.end);
}

void Printer::print(llvm::StringRef severity, llvm::StringRef id, SourceRange range, llvm::StringRef message,
                    llvm::ArrayRef<Note> notes) {
  out << "{\"version\":" << schemaVersion << ",\"severity\":\"" << severity << "\",\"id\":\"" << id << "\",";
  what(range, message);
  out << ",\"notes\":[";
  for (const Note &note : notes) {
    out << (&note == notes.begin() ? "{" : ",{");
    what(note.range, note.message);
    out << '}';
  }
  out << "]}\n";
}

void Diagnostics::printJson(llvm::raw_ostream &out) const {
  Printer printer(out, sources);
  for (const Diagnostic &record : records)
    printer.print(record.severity == Severity::Error ? "error" : "remark", name(record.id), record.range,
                  record.message, record.notes);
  if (omitted != 0)
    printer.print("note", "error-limit", {}, std::to_string(omitted) + " more not shown; --error-limit shows more", {});
}
