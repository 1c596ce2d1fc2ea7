// SPDX-License-Identifier: Apache-2.0
// Recording and printing of diagnostics; the printer is LLVM's (source line, caret, colours).
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
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
};
static_assert(std::size(diagNames) == static_cast<size_t>(DiagId::Count));

std::string_view gc3::name(DiagId id) {
  return diagNames[static_cast<size_t>(id)];
}

/// Whether the byte continues a UTF-8 character.
static bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The middle goes: what is wrong often stands at the end.
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
  if (told.count(key) != 0)
    return dropped;
  if (limitReached()) {
    ++omitted;
    return dropped;
  }
  told.insert(std::move(key));
  ++errors;
  return records.emplace_back(dropped);
}

Diagnostic &Diagnostics::remark(SourceRange range, const std::string &message) {
  return records.emplace_back(Diagnostic{DiagId::Remark, Severity::Remark, range, cutMessage(message), {}});
}

/// As LLVM prints it, but for the line: only what stands around the place.
static void printLongLine(llvm::raw_ostream &out, const llvm::SMDiagnostic &diagnostic, bool colors) {
  llvm::StringRef line = diagnostic.getLineContents();
  auto column = static_cast<size_t>(diagnostic.getColumnNo());
  size_t begin = column - std::min(column, Diagnostics::MaxLine / 4);
  size_t end = std::min(line.size(), begin + Diagnostics::MaxLine);
  while (begin != 0 && continues(line[begin]))
    --begin;
  while (end != line.size() && continues(line[end]))
    ++end;
  std::string place =
      diagnostic.getFilename().str() + ":" + std::to_string(diagnostic.getLineNo()) + ":" + std::to_string(column + 1);
  llvm::SMDiagnostic(place, diagnostic.getKind(), diagnostic.getMessage()).print(nullptr, out, colors);
  std::string shown = line.slice(begin, end).str();
  bool ascii = std::none_of(shown.begin(), shown.end(), [](char byte) { return static_cast<signed char>(byte) < 0; });
  std::replace_if(
      shown.begin(), shown.end(), [](char byte) { return byte >= 0 && byte < ' '; }, ' ');
  out << (begin != 0 ? "..." : "") << shown << (end != line.size() ? "..." : "") << '\n';
  if (!ascii) // a character may be any number of columns wide
    return;
  size_t marked = diagnostic.getRanges().empty() ? column + 1 : diagnostic.getRanges()[0].second;
  size_t tail = std::min(marked, end) - std::min(column + 1, std::min(marked, end));
  out.indent(static_cast<unsigned>(column - begin + (begin != 0 ? 3 : 0))) << '^' << std::string(tail, '~') << '\n';
}

static void printOne(llvm::raw_ostream &out, const SourceManager &sources, llvm::SourceMgr::DiagKind kind,
                     SourceRange range, const std::string &message, bool colors) {
  if (!range.isValid()) {
    llvm::SMDiagnostic("gc3c", kind, message).print(nullptr, out, colors);
    return;
  }
  llvm::SMRange pointers = sources.pointers(range);
  llvm::SMDiagnostic diagnostic = sources.llvmManager().GetMessage(pointers.Start, kind, message, pointers);
  if (diagnostic.getLineContents().size() > Diagnostics::MaxLine)
    printLongLine(out, diagnostic, colors);
  else
    diagnostic.print(nullptr, out, colors);
}

void Diagnostics::print(llvm::raw_ostream &out, bool colors) const {
  for (const Diagnostic &record : records) {
    bool isError = record.severity == Severity::Error;
    std::string message = record.message;
    if (isError)
      message += " [" + std::string(name(record.id)) + "]";
    printOne(out, sources, isError ? llvm::SourceMgr::DK_Error : llvm::SourceMgr::DK_Remark, record.range, message,
             colors);
    for (const Note &note : record.notes)
      printOne(out, sources, llvm::SourceMgr::DK_Note, note.range, note.message, colors);
  }
  if (omitted != 0)
    out << "gc3c: note: " << omitted << " more error" << (omitted == 1 ? "" : "s")
        << " not shown; --error-limit shows more\n";
}

void Diagnostics::print(llvm::raw_ostream &out, DiagnosticsFormat format) const {
  switch (format) {
  case DiagnosticsFormat::Text: print(out, out.has_colors()); break;
  case DiagnosticsFormat::Json: printJson(out); break;
  case DiagnosticsFormat::Sarif: printSarif(out); break;
  }
}

/// Whether exchanging two neighbours in one word gives the other.
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
    bool related = distance < std::max(candidate.size(), word.size()); // not just as short
    if (related && distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
