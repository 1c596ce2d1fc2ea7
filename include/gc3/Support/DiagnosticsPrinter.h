// SPDX-License-Identifier: Apache-2.0
// Prints the diagnostics of one input after another, in the format of the command line.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/JsonWriter.h"
#include <optional>
#include <vector>

namespace gc3 {

/// Writes diagnostics as a SARIF 2.1.0 log (OASIS), which editors and code hosts read: one result for each error and
/// remark, with the notes as related locations. docs/diagnostics.md lists the parts of the format in use. The log has
/// one run for all inputs, because code hosts refuse logs with several runs of one tool. The constructor begins the log
/// and the destructor ends it, even if there are no results.
class SarifLog {
public:
  explicit SarifLog(llvm::raw_ostream &out);
  ~SarifLog();
  SarifLog(const SarifLog &) = delete;
  SarifLog &operator=(const SarifLog &) = delete;

  /// Adds the diagnostics of one input. A result without a place refers to `input` as a whole.
  void add(const Diagnostics &diags, std::string_view input);

private:
  void member(llvm::StringRef key, llvm::StringRef value);
  void number(llvm::StringRef key, uint64_t value);
  void text(llvm::StringRef key, llvm::StringRef text);
  void tool();
  void invocation();
  void result(const Diagnostic &record, const SourceManager &sources, std::string_view input);
  void artifact(llvm::StringRef path);
  void whole(llvm::StringRef path);
  void place(SourceRange range, const SourceManager &sources);
  size_t ruleIndex(DiagId id);

  llvm::raw_ostream &out;
  JsonWriter json;
  std::vector<DiagId> rules; ///< ids that occurred, in the order of their first results
  unsigned omitted = 0;
  bool good = true;
};

enum class DiagnosticsFormat : uint8_t { Text, Json, Sarif };

/// `color` adds escape sequences to text. The destructor ends a SARIF log.
class DiagnosticsPrinter {
public:
  DiagnosticsPrinter(llvm::raw_ostream &out, DiagnosticsFormat format, bool color)
      : out(out), format(format), color(color) {
    if (format == DiagnosticsFormat::Sarif)
      log.emplace(out);
  }

  /// Prints the diagnostics of one input. `input` is the compiled path as the user spelt it.
  void print(const Diagnostics &diags, std::string_view input);

private:
  llvm::raw_ostream &out;
  DiagnosticsFormat format;
  bool color;
  std::optional<SarifLog> log;
};

} // namespace gc3
