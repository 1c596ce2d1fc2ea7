// SPDX-License-Identifier: Apache-2.0
// Counts the results of mutants and prints them as Markdown tables.
#pragma once

#include "MutantChecker.h"
#include "Mutators.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::mutation {

/// Numbers of mutants, by the verdict of Verify and the result of the executor, and the number of disagreements.
struct Tally {
  std::array<std::array<uint64_t, shownCount>, verdictCount> counts{};
  uint64_t disagreements = 0;

  void add(const CheckResult &result);
  void add(const Tally &other);
  uint64_t mutants() const;
  uint64_t with(Verdict verdict) const;
  uint64_t rejectedAnd(Shown shown) const;
};

struct ProgramTally {
  std::string name;
  Tally tally;
};

/// Prints a row for each kind, and a row with their sum.
void printKinds(llvm::raw_ostream &out, const std::vector<Kind> &kinds, const std::vector<Tally> &tallies);
/// Prints a row for each program.
void printPrograms(llvm::raw_ostream &out, const std::vector<ProgramTally> &programs);
/// Prints a row for each verdict of Verify, with a column for each result of the executor.
void printAgreement(llvm::raw_ostream &out, const Tally &sum);

} // namespace gc3::mutation
