// SPDX-License-Identifier: Apache-2.0
// Records and prints diagnostics; LLVM's printer writes the source line, the caret and colours.
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include "gc3/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <iterator>

using namespace gc3;

static constexpr std::string_view diagNames[] = {
    "cannot-read",
    "cannot-write",
    "not-utf8",
    "too-large",
    "syntax",
    "too-deep",
    "bad-literal",
    "unknown-name",
    "redefinition",
    "import-not-found",
    "import-cycle",
    "unknown-param",
    "bad-param-value",
    "type-mismatch",
    "wrong-arguments",
    "not-assignable",
    "misplaced",
    "missing-return",
    "not-constant",
    "overflow",
    "division-by-zero",
    "bad-operand",
    "index-out-of-range",
    "assert-failed",
    "remark",
    "step-budget",
    "operation-budget",
    "slot-budget",
    "list-budget",
    "recursion-limit",
    "rank-out-of-range",
    "chunk-out-of-range",
    "no-such-buffer",
    "uninitialised",
    "stale-reference",
    "count-mismatch",
    "overlap",
    "bad-shape",
    "bad-alias",
    "conflicting-ensures",
    "postcondition",
    "no-program",
    "sizes-overlap",
    "sizes-gap",
    "two-meanings",
    "not-standard",
    "bad-directive",
    "subdivision",
    "thread-block-conflict",
    "too-many-thread-blocks",
    "too-many-channels",
    "unverified",
    "bad-attribute",
    "bad-numbering",
    "bad-wait",
    "merged-reductions",
    "several-programs",
    "inexpressible",
    "runtime-limit",
    "picture-limit",
    "bad-topology",
};
static_assert(std::size(diagNames) == static_cast<size_t>(DiagId::Count));

std::string_view gc3::name(DiagId id) {
  return diagNames[static_cast<size_t>(id)];
}

std::string_view gc3::name(Severity severity) {
  switch (severity) {
  case Severity::Error: return "error";
  case Severity::Warning: return "warning";
  case Severity::Remark: return "remark";
  }
  return {};
}

/// Returns true if the byte continues a UTF-8 character.
static bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Shortens a message. Removes the middle, because the fault is often named at the end.
static std::string cutMessage(const std::string &message) {
  if (message.size() <= Diagnostics::MaxMessage)
    return message;
  size_t end = Diagnostics::MaxMessage / 2, begin = message.size() - Diagnostics::MaxMessage / 2;
  while (end != 0 && continues(message[end]))
    --end;
  while (begin != message.size() && continues(message[begin]))
    ++begin;
  return message.substr(0, end) + "..." + message.substr(begin);
}

Diagnostic &Diagnostic::note(SourceRange noteRange, const std::string &noteMessage) {
  notes.push_back({noteRange, cutMessage(noteMessage)});
  return *this;
}

Diagnostic &Diagnostics::error(DiagId id, SourceRange range, const std::string &message) {
  dropped = {id, Severity::Error, range, cutMessage(message), {}};
  std::tuple key(id, range.begin, range.end, dropped.message);
  if (recorded.count(key) != 0)
    return dropped;
  if (limitReached()) {
    ++omitted;
    return dropped;
  }
  recorded.insert(std::move(key));
  ++errors;
  return records.emplace_back(dropped);
}

Diagnostic &Diagnostics::warning(DiagId id, SourceRange range, const std::string &message) {
  return records.emplace_back(Diagnostic{id, Severity::Warning, range, cutMessage(message), {}});
}

Diagnostic &Diagnostics::remark(SourceRange range, const std::string &message) {
  return records.emplace_back(Diagnostic{DiagId::Remark, Severity::Remark, range, cutMessage(message), {}});
}

/// Returns true if LLVM can print the line as it is. LLVM replaces tabs with blanks.
static bool isPlain(llvm::StringRef line) {
  std::string text = line.str();
  std::replace(text.begin(), text.end(), '\t', ' ');
  return visible(text) == text;
}

/// Prints a diagnostic in LLVM's format, but shows only the part of the line around the place, and escapes for
/// invisible characters.
static void printUnusualLine(llvm::raw_ostream &out, const llvm::SMDiagnostic &diagnostic, bool colors) {
  llvm::StringRef line = diagnostic.getLineContents();
  auto column = static_cast<size_t>(diagnostic.getColumnNo());
  size_t begin = column - std::min(column, Diagnostics::MaxLine / 4);
  size_t end = std::min(line.size(), begin + Diagnostics::MaxLine);
  while (begin != 0 && continues(line[begin]))
    --begin;
  while (end != line.size() && continues(line[end]))
    ++end;
  llvm::StringRef name = diagnostic.getFilename();
  std::string place = (name == "-" ? "<stdin>" : visible(name)) + ":" + std::to_string(diagnostic.getLineNo()) + ":" +
                      std::to_string(column + 1);
  llvm::SMDiagnostic(place, diagnostic.getKind(), diagnostic.getMessage()).print(nullptr, out, colors);
  auto shown = [&](size_t from, size_t to) {
    std::string part = line.slice(from, to).str();
    std::replace(part.begin(), part.end(), '\t', ' ');
    return visible(part);
  };
  size_t last = diagnostic.getRanges().empty() ? column + 1 : diagnostic.getRanges()[0].second;
  size_t markedEnd = std::min(std::max(last, column), end);
  while (markedEnd != end && continues(line[markedEnd]))
    ++markedEnd;
  std::string before = (begin != 0 ? "..." : "") + shown(begin, column), marked = shown(column, markedEnd);
  std::string all = before + marked + shown(markedEnd, end) + (end != line.size() ? "..." : "");
  out << all << '\n';
  if (!llvm::isASCII(all)) // a character can be any number of columns wide
    return;
  out.indent(static_cast<unsigned>(before.size())) << '^';
  out << std::string(std::max<size_t>(marked.size(), 1) - 1, '~') << '\n';
}

static void printOne(llvm::raw_ostream &out, const SourceManager &sources, llvm::SourceMgr::DiagKind kind,
                     SourceRange range, const std::string &message, bool colors) {
  std::string shown = visible(message);
  if (!range.isValid()) {
    llvm::SMDiagnostic("gc3c", kind, shown).print(nullptr, out, colors);
    return;
  }
  llvm::SMRange pointers = sources.pointers(range);
  llvm::SMDiagnostic diagnostic = sources.llvmManager().GetMessage(pointers.Start, kind, shown, pointers);
  if (diagnostic.getLineContents().size() > Diagnostics::MaxLine || !isPlain(diagnostic.getLineContents()) ||
      !isPlain(diagnostic.getFilename()))
    printUnusualLine(out, diagnostic, colors);
  else
    diagnostic.print(nullptr, out, colors);
}

static llvm::SourceMgr::DiagKind kindOf(Severity severity) {
  switch (severity) {
  case Severity::Error: return llvm::SourceMgr::DK_Error;
  case Severity::Warning: return llvm::SourceMgr::DK_Warning;
  case Severity::Remark: return llvm::SourceMgr::DK_Remark;
  }
  return {};
}

void Diagnostics::print(llvm::raw_ostream &out, bool colors) const {
  for (const Diagnostic &record : records) {
    std::string message = record.message;
    if (record.severity != Severity::Remark)
      message += " [" + std::string(name(record.id)) + "]";
    printOne(out, sources, kindOf(record.severity), record.range, message, colors);
    for (const Note &note : record.notes)
      printOne(out, sources, llvm::SourceMgr::DK_Note, note.range, note.message, colors);
  }
  if (omitted != 0)
    out << "gc3c: note: " << quantity(omitted, "more error") << " not shown; --error-limit shows more\n";
}

/// Returns true if swapping two adjacent characters in one word gives the other word.
static bool isSwapped(llvm::StringRef a, llvm::StringRef b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i])
    ++i;
  return a.size() == b.size() && i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] &&
         a.drop_front(i + 2) == b.drop_front(i + 2);
}

std::string gc3::nearestName(std::string_view word, const std::vector<std::string> &candidates) {
  unsigned best = static_cast<unsigned>(std::max<size_t>(1, word.size() / 3)) + 1;
  std::string nearest;
  for (const std::string &candidate : candidates) {
    unsigned distance =
        isSwapped(candidate, word) ? 1 : llvm::StringRef(candidate).edit_distance(llvm::StringRef(word), true, best);
    bool related = distance < std::max(candidate.size(), word.size()); // at least one character is the same
    if (related && distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string gc3::suggestion(std::string_view word, const std::vector<std::string> &candidates) {
  std::string near = word.size() < 2 ? "" : nearestName(word, candidates); // every letter is near every other
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}
