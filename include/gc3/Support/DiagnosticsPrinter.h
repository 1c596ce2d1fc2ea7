// SPDX-License-Identifier: Apache-2.0
// Prints what was said of one input after another, as the command line asked for it.
#pragma once

#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/SarifLog.h"
#include <optional>

namespace gc3 {

enum class DiagnosticsFormat : uint8_t { Text, Json, Sarif };

/// Text is coloured where `out` shows colours. A SARIF log ends with the printer.
class DiagnosticsPrinter {
public:
  DiagnosticsPrinter(llvm::raw_ostream &out, DiagnosticsFormat format) : out(out), format(format) {
    if (format == DiagnosticsFormat::Sarif)
      log.emplace(out);
  }

  /// `input`: the path that was compiled, as it was spelt.
  void print(const Diagnostics &diags, std::string_view input);

private:
  llvm::raw_ostream &out;
  DiagnosticsFormat format;
  std::optional<SarifLog> log;
};

} // namespace gc3
