// SPDX-License-Identifier: Apache-2.0
// Diagnostics as a SARIF 2.1.0 log (OASIS), which editors and code hosts read: a result for each error and remark, its
// notes as related locations. docs/diagnostics.md says what is used of the format.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/JsonWriter.h"
#include <vector>

namespace gc3 {

/// One run, whatever number of inputs it had: code hosts refuse logs with several runs of one tool. Begins when it is
/// made and ends when it is destroyed, also if there is nothing to say.
class SarifLog {
public:
  explicit SarifLog(llvm::raw_ostream &out);
  ~SarifLog();
  SarifLog(const SarifLog &) = delete;
  SarifLog &operator=(const SarifLog &) = delete;

  /// What has no place of its own has `input` as a whole.
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

} // namespace gc3
