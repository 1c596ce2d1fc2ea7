// SPDX-License-Identifier: Apache-2.0
#include "gc3/Support/DiagnosticsPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace gc3;

/// Returns a path as a URI reference (RFC 3986). Absolute paths get the scheme `file`.
static std::string uriOf(llvm::StringRef path) {
  std::string uri = llvm::sys::path::is_absolute(path) ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    if (llvm::isAlnum(c) || llvm::StringRef("/-._~").contains(c))
      uri += c;
    else
      uri += {'%', llvm::hexdigit(byte >> 4), llvm::hexdigit(byte & 15)};
  }
  return uri;
}

size_t SarifLog::ruleIndex(DiagId id) {
  size_t index = static_cast<size_t>(llvm::find(rules, id) - rules.begin());
  if (index == rules.size())
    rules.push_back(id);
  return index;
}

void SarifLog::member(llvm::StringRef key, llvm::StringRef value) {
  json.key(key);
  json.value(value);
}

void SarifLog::number(llvm::StringRef key, uint64_t value) {
  json.key(key);
  json.value(static_cast<int64_t>(value));
}

void SarifLog::text(llvm::StringRef key, llvm::StringRef text) {
  json.key(key);
  json.object([&] { member("text", text); });
}

void SarifLog::tool() {
  json.key("tool");
  json.object([&] {
    json.key("driver");
    json.object([&] {
      member("name", "gc3c");
      json.key("rules");
      json.array([&] {
        for (DiagId id : rules)
          json.object([&] {
            member("id", name(id));
            text("shortDescription", help(id));
          });
      });
    });
  });
}

void SarifLog::invocation() {
  json.key("invocations");
  json.array([&] {
    json.object([&] {
      json.key("executionSuccessful");
      json.boolean(good);
      if (omitted == 0)
        return;
      json.key("toolExecutionNotifications");
      json.array([&] {
        json.object([&] {
          member("level", "note");
          text("message", std::to_string(omitted) + " more not shown; --error-limit shows more");
        });
      });
    });
  });
}

void SarifLog::artifact(llvm::StringRef path) {
  json.key("artifactLocation");
  json.object([&] { member("uri", uriOf(path)); });
}

/// Writes the physical location of a range. Columns count characters, as `columnKind` says.
void SarifLog::place(SourceRange range, const SourceManager &sources) {
  if (!range.isValid())
    return;
  auto column = [&](uint32_t offset, unsigned byteColumn) {
    llvm::StringRef before = sources.text({offset - (byteColumn - 1), offset});
    return 1 + llvm::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  };
  SourceManager::LineColumn begin = sources.place(range.begin), end = sources.place(range.end);
  json.key("physicalLocation");
  json.object([&] {
    artifact(begin.file);
    json.key("region");
    json.object([&] {
      number("startLine", begin.line);
      number("startColumn", static_cast<uint64_t>(column(range.begin, begin.column)));
      number("endLine", end.line);
      number("endColumn", static_cast<uint64_t>(column(range.end, end.column)));
    });
  });
}

/// Writes the physical location of a whole file.
void SarifLog::whole(llvm::StringRef path) {
  json.key("physicalLocation");
  json.object([&] { artifact(path); });
}

void SarifLog::result(const Diagnostic &record, const SourceManager &sources, std::string_view input) {
  json.object([&] {
    member("ruleId", name(record.id));
    number("ruleIndex", ruleIndex(record.id));
    member("level", record.severity == Severity::Remark ? "note" : name(record.severity));
    text("message", record.message);
    json.key("locations");
    json.array([&] {
      json.object([&] {
        if (record.range.isValid())
          place(record.range, sources);
        else
          whole(input);
      });
    });
    if (record.notes.empty())
      return;
    json.key("relatedLocations");
    json.array([&] {
      for (const Note &note : record.notes)
        json.object([&] {
          place(note.range, sources);
          text("message", note.message);
        });
    });
  });
}

SarifLog::SarifLog(llvm::raw_ostream &out) : out(out), json(out) {
  json.open('{');
  member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  member("version", "2.1.0");
  json.key("runs");
  json.open('[');
  json.open('{');
  member("columnKind", "unicodeCodePoints");
  json.key("results");
  json.open('[');
}

void SarifLog::add(const Diagnostics &diags, std::string_view input) {
  for (const Diagnostic &record : diags.all())
    result(record, diags.sourceManager(), input);
  omitted += diags.omittedCount();
  good &= !diags.hasErrors();
}

SarifLog::~SarifLog() {
  json.close(']');
  tool();
  invocation();
  json.close('}');
  json.close(']');
  json.close('}');
  out << '\n';
}
