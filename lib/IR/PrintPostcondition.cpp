// SPDX-License-Identifier: Apache-2.0
// Prints a postcondition in the syntax of the language: `for r in 0..4, c in 0..4: output(r, c) == input(c, r)`.
#include "Clauses.h"
#include "gc3/IR/PrintParts.h"
#include <cstdlib>

using namespace gc3::ir;

namespace {

/// A linear expression of counters: the counter of a reduction, then the counters of a clause's loops.
struct Affine {
  static constexpr size_t own = 0;

  int64_t constant;
  std::array<int64_t, 1 + Clause::maxLoops> steps{};
};

class ClausePrinter {
public:
  ClausePrinter(llvm::raw_ostream &out, const Postcondition &post) : out(out), post(post) {}

  void print(const Clause &clause);

private:
  void chooseCounters(const Clause &clause);
  void printValue(const Clause &clause);
  void printRun(const Clause &clause, uint32_t position);
  void printAffine(const Affine &number);
  Affine shifted(Affine number) const;

  llvm::raw_ostream &out;
  const Postcondition &post;
  std::array<char, 1 + Clause::maxLoops> names{};
  std::array<int64_t, 1 + Clause::maxLoops> firsts{}; // first values of the printed counters
};

} // namespace

/// Chooses a letter for each counter: r and g change ranks, c and b change chunks, q is the counter of a reduction. If
/// exactly one loop changes the rank, and each iteration adds 1, the loop's counter starts with the first rank. The
/// text is then `output(r, ...)` without a constant. The same rule applies to the chunk.
void ClausePrinter::chooseCounters(const Clause &clause) {
  uint32_t rankLoops = 0, indexLoops = 0;
  for (uint32_t i = 0; i != clause.loopCount; ++i) {
    const Clause::Loop &loop = clause.loops[i];
    names[i + 1] = loop.rankStep != 0 ? "rg"[rankLoops] : "cb"[indexLoops];
    rankLoops += loop.rankStep != 0;
    indexLoops += loop.indexStep != 0;
  }
  for (uint32_t i = 0; i != clause.loopCount; ++i) {
    const Clause::Loop &loop = clause.loops[i];
    if (loop.rankStep == 1 && rankLoops == 1)
      firsts[i + 1] = clause.rank;
    else if (loop.rankStep == 0 && loop.indexStep == 1 && indexLoops == 1)
      firsts[i + 1] = clause.index;
    else
      firsts[i + 1] = 0;
  }
  names[Affine::own] = 'q';
}

/// Converts an expression of counters that begin with 0 to the printed counters, which begin with `firsts`.
Affine ClausePrinter::shifted(Affine number) const {
  for (size_t i = 0; i != number.steps.size(); ++i)
    number.constant -= number.steps[i] * firsts[i];
  return number;
}

/// Prints a sum: first the positive terms, then the constant, then the negative terms.
void ClausePrinter::printAffine(const Affine &number) {
  const char *plus = "";
  auto printSteps = [&](bool subtracting) {
    for (size_t i = number.steps.size(); i-- != 0;) {
      int64_t step = number.steps[i];
      if (step == 0 || (step < 0) != subtracting)
        continue;
      out << (subtracting ? (*plus ? " - " : "-") : plus);
      if (std::abs(step) != 1)
        out << std::abs(step) << " * ";
      out << names[i];
      plus = " + ";
    }
  };
  printSteps(false);
  if (number.constant != 0 || !*plus)
    out << (number.constant < 0 ? (*plus ? " - " : "-") : plus) << std::abs(number.constant);
  plus = " + ";
  printSteps(true);
}

void ClausePrinter::printRun(const Clause &clause, uint32_t position) {
  constexpr size_t own = Affine::own;
  const Run &run = post.runs[post.valueBegin[clause.value] + position];
  Affine rank{run.rank}, index{run.index};
  bool rankMoves = false, indexMoves = false;
  for (uint32_t i = 0; i != clause.loopCount; ++i) {
    const Run &next = post.runs[post.valueBegin[clause.loops[i].value] + position];
    rank.steps[i + 1] = int64_t(next.rank) - run.rank;
    index.steps[i + 1] = int64_t(next.index) - run.index;
    rankMoves |= rank.steps[i + 1] != 0;
    indexMoves |= index.steps[i + 1] != 0;
  }
  if (run.length != 1) {
    rank.steps[own] = run.rankStride;
    index.steps[own] = run.indexStride;
  }
  firsts[own] = 0;
  if (run.rankStride == 1 && !rankMoves)
    firsts[own] = run.rank;
  else if (run.rankStride == 0 && run.indexStride == 1 && !indexMoves)
    firsts[own] = run.index;
  out << "input(";
  printAffine(shifted(rank));
  out << ", ";
  printAffine(shifted(index));
  out << ')';
  if (run.length != 1)
    out << " for q in " << firsts[own] << ".." << firsts[own] + run.length;
}

void ClausePrinter::printValue(const Clause &clause) {
  uint32_t runs = post.valueBegin[clause.value + 1] - post.valueBegin[clause.value];
  bool reduces = runs != 1 || post.runs[post.valueBegin[clause.value]].length != 1;
  out << (reduces ? "reduce(" : "");
  for (uint32_t i = 0; i != runs; ++i) {
    out << (i == 0 ? "" : ", ");
    printRun(clause, i);
  }
  out << (reduces ? ")" : "");
}

void ClausePrinter::print(const Clause &clause) {
  chooseCounters(clause);
  out << "ensures ";
  for (uint32_t i = clause.loopCount; i-- != 0;)
    out << (i + 1 == clause.loopCount ? "for " : "") << names[i + 1] << " in " << firsts[i + 1] << ".."
        << firsts[i + 1] + clause.loops[i].count << (i == 0 ? ": " : ", ");
  Affine rank{clause.rank}, index{clause.index};
  for (uint32_t i = 0; i != clause.loopCount; ++i) {
    rank.steps[i + 1] = clause.loops[i].rankStep;
    index.steps[i + 1] = clause.loops[i].indexStep;
  }
  out << "output(";
  printAffine(shifted(rank));
  out << ", ";
  printAffine(shifted(index));
  out << ") == ";
  printValue(clause);
  out << '\n';
}

static void print(llvm::raw_ostream &out, const Compressor::Copy &copy) {
  if (copy.count == 1)
    out << "ensures output(" << copy.first << ')';
  else if (copy.step == 1)
    out << "ensures for r in " << copy.first << ".." << copy.first + copy.count << ": output(r)";
  else
    out << "ensures for r in 0.." << copy.count << ": output(" << copy.step << " * r + " << copy.first << ')';
  out << " == output(" << copy.model << ")\n";
}

void gc3::ir::printPostcondition(llvm::raw_ostream &out, const Collective &collective) {
  Compressor compressor(collective);
  ClausePrinter printer(out, collective.post);
  for (const Clause &clause : compressor.run())
    printer.print(clause);
  for (const Compressor::Copy &copy : compressor.copies())
    ::print(out, copy);
}
