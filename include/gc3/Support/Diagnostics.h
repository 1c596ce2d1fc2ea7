// SPDX-License-Identifier: Apache-2.0
// Diagnostics of the compiler: records with a stable id, a place, a message and notes. The driver prints them at the
// end.
#pragma once

#include "gc3/Support/Location.h"
#include "gc3/Support/SourceManager.h"
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace gc3 {

enum class Severity : uint8_t { Error, Warning, Remark };

/// Returns "error", "warning" or "remark".
std::string_view name(Severity severity);

/// Stable ids. `name` returns the spelling that is printed in brackets after the message; tests and users search for
/// it. The table in Diagnostics.cpp must have the same order (a static_assert compares the counts).
enum class DiagId : uint8_t {
  // Input
  CannotRead,
  CannotWrite,
  NotUtf8,
  TooLarge,
  // Parse
  Syntax,
  TooDeep,
  BadLiteral,
  // Names, imports and types
  UnknownName,
  Redefinition,
  ImportNotFound,
  ImportCycle,
  UnknownParam,
  BadParamValue,
  TypeMismatch,
  WrongArguments,
  NotAssignable,
  Misplaced,
  MissingReturn,
  NotConstant,
  // Evaluation
  Overflow,
  DivisionByZero,
  BadOperand,
  IndexOutOfRange,
  AssertFailed,
  Remark,
  StepBudget,
  OperationBudget,
  SlotBudget,
  ListBudget,
  RecursionLimit,
  // Chunks
  RankOutOfRange,
  ChunkOutOfRange,
  NoSuchBuffer,
  Uninitialised,
  StaleReference,
  CountMismatch,
  Overlap,
  // Collectives
  BadShape,
  BadAlias,
  ConflictingEnsures,
  Postcondition,
  // Programs
  NoProgram,
  SizesOverlap,
  SizesGap,
  TwoMeanings,
  NotStandard,
  BadDirective,
  // Scheduling
  Subdivision,
  ThreadBlockConflict,
  TooManyThreadBlocks,
  TooManyChannels,
  // Verification
  Unverified,
  // Import
  BadAttribute,
  BadNumbering,
  BadWait,
  MergedReductions,
  // Export
  SeveralPrograms,
  Inexpressible,
  RuntimeLimit,
  // Pictures
  PictureLimit,
  // Costs
  BadTopology,
  Count // not an id
};

std::string_view name(DiagId id);
/// Returns one line that describes the messages with this id.
std::string_view help(DiagId id);

struct Note {
  SourceRange range; // may be invalid: a note without a place
  std::string message;
};

struct Diagnostic {
  DiagId id;
  Severity severity;
  SourceRange range; // may be invalid: an error without a place in a source file
  std::string message;
  std::vector<Note> notes;

  /// Adds a note. Shortens a long message as Diagnostics::error does.
  Diagnostic &note(SourceRange noteRange, const std::string &noteMessage);
};

/// Collects diagnostics of one compilation. Not thread-safe.
class Diagnostics {
public:
  /// Maximum length of a message in bytes. Only a message that quotes a huge name is longer; its middle is left out.
  static constexpr size_t MaxMessage = 8192;
  /// Maximum number of bytes printed of a source line. A longer line is printed only around the diagnostic.
  static constexpr size_t MaxLine = 400;

  explicit Diagnostics(const SourceManager &sources, unsigned errorLimit = 20)
      : sources(sources), errorLimit(errorLimit) {}

  /// Records an error and returns it, so that the caller can add notes at once; the next call invalidates the
  /// reference. Records the same message at the same place only once. After the limit is reached, only counts further
  /// errors. The limit 0 means no limit.
  Diagnostic &error(DiagId id, SourceRange range, const std::string &message);
  Diagnostic &warning(DiagId id, SourceRange range, const std::string &message);
  Diagnostic &remark(SourceRange range, const std::string &message);

  bool hasErrors() const { return errors != 0; }
  unsigned errorCount() const { return errors; }
  unsigned omittedCount() const { return omitted; } ///< errors past the limit
  bool limitReached() const { return errorLimit != 0 && errors >= errorLimit; }
  const std::vector<Diagnostic> &all() const { return records; }
  const SourceManager &sourceManager() const { return sources; }

  /// Prints each diagnostic: file, line, column, source line with caret, and notes. If errors were left out, also
  /// prints a line with their number.
  void print(llvm::raw_ostream &out, bool colors) const;
  /// Prints the same as JSON, one object per line; docs/diagnostics.md has the schema. `input` is the compiled path.
  void printJson(llvm::raw_ostream &out, std::string_view input) const;

private:
  const SourceManager &sources;
  unsigned errorLimit;
  unsigned errors = 0;
  unsigned omitted = 0;
  std::vector<Diagnostic> records;
  std::set<std::tuple<DiagId, uint32_t, uint32_t, std::string>> recorded; // the errors in `records`
  Diagnostic dropped; // the last error passed to error(); receives its
                      // notes if it is not recorded
};

/// Returns the candidate nearest to `word` by edit distance, or an empty string if none is near enough to suggest.
std::string nearestName(std::string_view word, const std::vector<std::string> &candidates);

/// Returns "; did you mean 'x'?" for the nearest candidate, or an empty string if none is near or `word` is one letter.
std::string suggestion(std::string_view word, const std::vector<std::string> &candidates);

} // namespace gc3
