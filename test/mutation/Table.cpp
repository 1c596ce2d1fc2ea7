// SPDX-License-Identifier: Apache-2.0
#include "Table.h"
#include <numeric>

using namespace gc3::mutation;

void Tally::add(const CheckResult &result) {
  ++counts[static_cast<size_t>(result.verdict)][static_cast<size_t>(result.shown)];
  disagreements += !result.disagreement.empty();
}

void Tally::add(const Tally &other) {
  for (size_t verdict = 0; verdict != verdictCount; ++verdict)
    for (size_t shown = 0; shown != shownCount; ++shown)
      counts[verdict][shown] += other.counts[verdict][shown];
  disagreements += other.disagreements;
}

uint64_t Tally::with(Verdict verdict) const {
  const auto &row = counts[static_cast<size_t>(verdict)];
  return std::accumulate(row.begin(), row.end(), uint64_t(0));
}

uint64_t Tally::mutants() const {
  uint64_t sum = 0;
  for (size_t verdict = 0; verdict != verdictCount; ++verdict)
    sum += with(static_cast<Verdict>(verdict));
  return sum;
}

uint64_t Tally::rejectedAnd(Shown shown) const {
  uint64_t sum = 0;
  for (size_t verdict = 0; verdict != static_cast<size_t>(Verdict::Accepted); ++verdict)
    sum += counts[verdict][static_cast<size_t>(shown)];
  return sum;
}

static void printLine(llvm::raw_ostream &out, const std::string &name, const Tally &tally) {
  out << "| " << name << " | " << tally.mutants();
  for (size_t verdict = 0; verdict != static_cast<size_t>(Verdict::Accepted); ++verdict)
    out << " | " << tally.with(static_cast<Verdict>(verdict));
  for (Shown shown : {Shown::Refused, Shown::Stuck, Shown::Wrong, Shown::Varies, Shown::Seen, Shown::Nothing})
    out << " | " << tally.rejectedAnd(shown);
  out << " | " << tally.with(Verdict::Accepted) << " | " << tally.disagreements << " |\n";
}

void gc3::mutation::printKinds(llvm::raw_ostream &out, const std::vector<Kind> &kinds,
                               const std::vector<Tally> &tallies) {
  out << "| kind | mutants | structure | deadlock | race | uninitialised | postcondition | refused | stuck | wrong "
         "| varies | seen | not shown | accepted | missed |\n| ---";
  for (int column = 0; column != 14; ++column)
    out << " | --:";
  out << " |\n";
  Tally sum;
  for (size_t i = 0; i != kinds.size(); ++i) {
    printLine(out, std::string("`") + kinds[i].name + "` " + kinds[i].what, tallies[i]);
    sum.add(tallies[i]);
  }
  printLine(out, "**all**", sum);
}

void gc3::mutation::printAgreement(llvm::raw_ostream &out, const Tally &sum) {
  static constexpr const char *names[] = {"structure",     "deadlock",      "race",
                                          "uninitialised", "postcondition", "accepted"};
  out << "| | refused | stuck | wrong | varies | seen | nothing |\n| --- | --: | --: | --: | --: | --: | --: |\n";
  for (size_t verdict = 0; verdict != verdictCount; ++verdict) {
    out << "| " << names[verdict];
    for (uint64_t count : sum.counts[verdict])
      out << " | " << count;
    out << " |\n";
  }
}

void gc3::mutation::printPrograms(llvm::raw_ostream &out, const std::vector<ProgramTally> &programs) {
  out << "| program | mutants | rejected | of these shown | accepted | missed |\n"
         "| --- | --: | --: | --: | --: | --: |\n";
  for (const ProgramTally &program : programs) {
    uint64_t accepted = program.tally.with(Verdict::Accepted);
    uint64_t rejected = program.tally.mutants() - accepted;
    out << "| " << program.name << " | " << program.tally.mutants() << " | " << rejected << " | "
        << rejected - program.tally.rejectedAnd(Shown::Nothing) << " | " << accepted << " | "
        << program.tally.disagreements << " |\n";
  }
}
