// SPDX-License-Identifier: Apache-2.0
// Judgements counted, as Markdown.
#pragma once

#include "Judge.h"
#include "Mutators.h"
#include "llvm/Support/raw_ostream.h"

namespace gc3::mutation {

/// Mutants by what Verify says and what the executor shows; and those on which the two disagree.
struct Tally {
  std::array<std::array<uint64_t, shownCount>, verdictCount> counts{};
  uint64_t disagreements = 0;

  void add(const Judgement &judgement);
  void add(const Tally &other);
  uint64_t mutants() const;
  uint64_t with(Verdict verdict) const;
  uint64_t rejectedAnd(Shown shown) const;
};

struct ProgramTally {
  std::string name;
  Tally tally;
};

/// A line for each kind, and their sum.
void printKinds(llvm::raw_ostream &out, const std::vector<Kind> &kinds, const std::vector<Tally> &tallies);
/// A line for each program.
void printPrograms(llvm::raw_ostream &out, const std::vector<ProgramTally> &programs);
/// What Verify says against what the executor shows.
void printAgreement(llvm::raw_ostream &out, const Tally &sum);

} // namespace gc3::mutation
