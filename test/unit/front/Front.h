// SPDX-License-Identifier: Apache-2.0
// Compiles and evaluates .gc3 text in tests.
#pragma once

#include "gc3/Sema/Sema.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::test {

struct Outcome {
  std::vector<ir::ChunkDag> programs;
  std::vector<Diagnostic> diagnostics;
  std::string printed;
  bool good = false;
};

inline Outcome analyze(const std::string &text, const sema::SemaOptions &options = {}) {
  SourceManager sources;
  Diagnostics diags(sources, 0);
  Outcome outcome;
  outcome.programs = sema::analyze(sources, diags, "-", text, options);
  outcome.diagnostics = diags.all();
  outcome.good = !diags.hasErrors();
  llvm::raw_string_ostream out(outcome.printed);
  diags.print(out, false);
  out.flush();
  return outcome;
}

} // namespace gc3::test
