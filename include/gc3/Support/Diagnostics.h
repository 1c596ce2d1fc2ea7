// SPDX-License-Identifier: Apache-2.0
// What the compiler has to say: records with a stable id, a place, a message and notes, printed at the end.
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

enum class Severity : uint8_t { Error, Remark };

/// Stable ids; `name` gives each its spelling in brackets after the message, which tests and users search for.
/// Keep in step with the table in Diagnostics.cpp (a static_assert counts).
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
  Count // not an id
};

std::string_view name(DiagId id);
/// What messages with this id are about, in one line.
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

  /// Adds a note; its message is cut as that of Diagnostics::error.
  Diagnostic &note(SourceRange noteRange, const std::string &noteMessage);
};

/// Collects diagnostics of one compilation. Not thread-safe.
class Diagnostics {
public:
  /// Bytes of a message; the rest of a longer one, which quotes some huge name, is left out.
  static constexpr size_t MaxMessage = 8192;
  /// Bytes of a source line that are printed; of a longer one those around the place.
  static constexpr size_t MaxLine = 400;

  explicit Diagnostics(const SourceManager &sources, unsigned errorLimit = 20)
      : sources(sources), errorLimit(errorLimit) {}

  /// Records an error and returns it so that notes can be added at once; the reference dies with the next call.
  /// The same message at the same place is recorded once; past the limit nothing more is kept (0: no limit).
  Diagnostic &error(DiagId id, SourceRange range, const std::string &message);
  Diagnostic &remark(SourceRange range, const std::string &message);

  bool hasErrors() const { return errors != 0; }
  unsigned errorCount() const { return errors; }
  unsigned omittedCount() const { return omitted; } ///< errors past the limit
  bool limitReached() const { return errorLimit != 0 && errors >= errorLimit; }
  const std::vector<Diagnostic> &all() const { return records; }
  const SourceManager &sourceManager() const { return sources; }

  /// File, line, column, source line with caret, notes; then a line if errors were left out.
  void print(llvm::raw_ostream &out, bool colors) const;
  /// The same as JSON, an object a line; docs/diagnostics.md has the schema. `input`: what was compiled.
  void printJson(llvm::raw_ostream &out, std::string_view input) const;

private:
  const SourceManager &sources;
  unsigned errorLimit;
  unsigned errors = 0;
  unsigned omitted = 0;
  std::vector<Diagnostic> records;
  std::set<std::tuple<DiagId, uint32_t, uint32_t, std::string>> told; // the errors among them
  Diagnostic dropped;                                                 // where notes of unrecorded diagnostics go
};

/// The candidate nearest to `word` by edit distance, or an empty string if none is near enough to suggest.
std::string nearestName(std::string_view word, const std::vector<std::string> &candidates);

/// Returns "; did you mean 'x'?" for the nearest candidate, or an empty string if none is near or `word` is one letter.
std::string suggestion(std::string_view word, const std::vector<std::string> &candidates);

} // namespace gc3
