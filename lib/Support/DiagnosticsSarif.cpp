// SPDX-License-Identifier: Apache-2.0
// Diagnostics as a SARIF 2.1.0 log (OASIS), which editors and code hosts read: one run, a result for each error and
// remark, its notes as related locations. docs/diagnostics.md says what is used of the format.
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/JsonWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <vector>

using namespace gc3;

namespace {

class Printer {
public:
  Printer(llvm::raw_ostream &out, const SourceManager &allSources) : sources(allSources), json(out) {}

  void log(const std::vector<Diagnostic> &records, unsigned omitted, bool good);

private:
  void member(llvm::StringRef key, llvm::StringRef value);
  void number(llvm::StringRef key, uint64_t value);
  void text(llvm::StringRef key, llvm::StringRef text);
  void tool(const std::vector<DiagId> &rules);
  void invocation(unsigned omitted, bool good);
  void result(const Diagnostic &record, const std::vector<DiagId> &rules);
  void place(SourceRange range);

  const SourceManager &sources;
  JsonWriter json;
};

} // namespace

/// A path as a URI reference (RFC 3986): absolute ones with the scheme `file`.
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

/// Ids that occur, in their order.
static std::vector<DiagId> rulesOf(const std::vector<Diagnostic> &records) {
  std::vector<DiagId> rules;
  for (const Diagnostic &record : records)
    rules.push_back(record.id);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

void Printer::member(llvm::StringRef key, llvm::StringRef value) {
  json.key(key);
  json.value(value);
}

void Printer::number(llvm::StringRef key, uint64_t value) {
  json.key(key);
  json.value(static_cast<int64_t>(value));
}

void Printer::text(llvm::StringRef key, llvm::StringRef text) {
  json.key(key);
  json.object([&] { member("text", text); });
}

void Printer::tool(const std::vector<DiagId> &rules) {
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

void Printer::invocation(unsigned omitted, bool good) {
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

/// The physical location; columns count characters, as `columnKind` says.
void Printer::place(SourceRange range) {
  if (!range.isValid())
    return;
  auto column = [&](uint32_t offset, unsigned byteColumn) {
    llvm::StringRef before = sources.text({offset - (byteColumn - 1), offset});
    return 1 + llvm::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  };
  SourceManager::Place begin = sources.place(range.begin), end = sources.place(range.end);
  json.key("physicalLocation");
  json.object([&] {
    json.key("artifactLocation");
    json.object([&] { member("uri", uriOf(begin.file)); });
    json.key("region");
    json.object([&] {
      number("startLine", begin.line);
      number("startColumn", static_cast<uint64_t>(column(range.begin, begin.column)));
      number("endLine", end.line);
      number("endColumn", static_cast<uint64_t>(column(range.end, end.column)));
    });
  });
}

void Printer::result(const Diagnostic &record, const std::vector<DiagId> &rules) {
  json.object([&] {
    member("ruleId", name(record.id));
    number("ruleIndex", static_cast<uint64_t>(llvm::find(rules, record.id) - rules.begin()));
    member("level", record.severity == Severity::Error ? "error" : "note");
    text("message", record.message);
    if (record.range.isValid()) {
      json.key("locations");
      json.array([&] { json.object([&] { place(record.range); }); });
    }
    if (record.notes.empty())
      return;
    json.key("relatedLocations");
    json.array([&] {
      for (const Note &note : record.notes)
        json.object([&] {
          place(note.range);
          text("message", note.message);
        });
    });
  });
}

void Printer::log(const std::vector<Diagnostic> &records, unsigned omitted, bool good) {
  std::vector<DiagId> rules = rulesOf(records);
  json.object([&] {
    member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    member("version", "2.1.0");
    json.key("runs");
    json.array([&] {
      json.object([&] {
        tool(rules);
        invocation(omitted, good);
        member("columnKind", "unicodeCodePoints");
        json.key("results");
        json.array([&] {
          for (const Diagnostic &record : records)
            result(record, rules);
        });
      });
    });
  });
}

void Diagnostics::printSarif(llvm::raw_ostream &out) const {
  Printer(out, sources).log(records, omitted, !hasErrors());
  out << '\n';
}
