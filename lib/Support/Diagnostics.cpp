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

Diagnostic &Diagnostics::error(DiagId id, SourceRange range, std::string message) {
  bool seen = std::any_of(records.begin(), records.end(), [&](const Diagnostic &other) {
    return other.id == id && other.range == range && other.message == message;
  });
  dropped = {id, Severity::Error, range, std::move(message), {}};
  if (seen)
    return dropped;
  if (limitReached()) {
    ++omitted;
    return dropped;
  }
  ++errors;
  return records.emplace_back(dropped);
}

Diagnostic &Diagnostics::remark(SourceRange range, std::string message) {
  return records.emplace_back(Diagnostic{DiagId::Remark, Severity::Remark, range, std::move(message), {}});
}

/// False for lines that nobody wants on a screen: of a file that is one line, or none of ours.
static bool showsLine(const llvm::SourceMgr &manager, llvm::SMLoc place) {
  static constexpr size_t longest = 2000; // bytes to either side
  llvm::StringRef text = manager.getMemoryBuffer(manager.FindBufferContainingLoc(place))->getBuffer();
  llvm::StringRef before = text.take_front(static_cast<size_t>(place.getPointer() - text.begin())).take_back(longest);
  llvm::StringRef after = text.drop_front(static_cast<size_t>(place.getPointer() - text.begin())).take_front(longest);
  return (before.size() < longest || before.contains('\n')) && (after.size() < longest || after.contains('\n'));
}

static void printOne(llvm::raw_ostream &out, const SourceManager &sources, llvm::SourceMgr::DiagKind kind,
                     SourceRange range, const std::string &message, bool colors) {
  if (range.isValid()) {
    llvm::SMRange pointers = sources.pointers(range);
    if (!showsLine(sources.llvmManager(), pointers.Start)) {
      SourceManager::Place place = sources.place(range.begin);
      std::string where = place.file.str() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
      llvm::SMDiagnostic(where, kind, message).print(nullptr, out, colors);
      return;
    }
    sources.llvmManager().PrintMessage(out, pointers.Start, kind, message, pointers, {}, colors);
    return;
  }
  llvm::SMDiagnostic("gc3c", kind, message).print(nullptr, out, colors);
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
