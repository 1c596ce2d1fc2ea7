// SPDX-License-Identifier: Apache-2.0
// Text of a postcondition, as the language would say it: `for r in 0..4, c in 0..4: output(r, c) == input(c, r)`.
//
// Output chunks whose wanted contributions move evenly from one to the next become one clause with a loop; clauses that
// move evenly become one with one loop more, and so do the rows of ranks. What is regular is short, whoever made it.
// Linear in the output chunks of all rows and in the contributions' runs that they name.
#include "PrintParts.h"
#include <algorithm>
#include <array>
#include <cstdlib>

using namespace gc3::ir;

namespace {

/// The output chunks (rank + i * rankStep, index + i * indexStep) of its loops' counters i. What they must hold moves
/// as the values do from the first chunk to its neighbour in each loop.
struct Clause {
  struct Loop {
    uint32_t count;
    int64_t rankStep;
    int64_t indexStep;
    uint32_t value; // of the neighbour
  };
  static constexpr size_t maxLoops = 4; // chunks, blocks, ranks of a row, rows

  uint32_t rank;
  uint32_t index;
  uint32_t value;
  uint32_t loopCount = 0;
  std::array<Loop, maxLoops> loops; // the innermost first
};

/// A number that moves with counters: that of a reduction, and behind it those of a clause's loops.
struct Affine {
  static constexpr size_t own = 0;

  int64_t constant;
  std::array<int64_t, 1 + Clause::maxLoops> steps{};
};

/// Makes the clauses.
class Compressor {
public:
  explicit Compressor(const Collective &collective) : collective(collective), post(collective.post) {}

  std::vector<Clause> run();
  /// Ranks (first + i * step) that want what `model` wants, which has clauses.
  struct Copy {
    uint32_t model, first, step, count;
  };
  const std::vector<Copy> &copies() const { return rowCopies; }

private:
  using Clauses = std::vector<Clause>;
  bool parallel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) const;
  bool alike(const Clause &a, const Clause &b) const;
  bool continues(const Clause &a, const Clause &b, const Clause &c) const;
  void join(Clauses &list) const;
  Clauses clausesOf(uint32_t rank) const;
  void addRanks(Clauses &row, const std::vector<uint32_t> &ranks);
  Clauses joinRows(std::vector<Clauses> &rows) const;

  const Collective &collective;
  const Postcondition &post;
  std::vector<Copy> rowCopies;
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
  std::array<int64_t, 1 + Clause::maxLoops> firsts{}; // what the printed counters begin with
};

} // namespace

static Clause::Loop step(const Clause &from, const Clause &to) {
  return {0, int64_t(to.rank) - from.rank, int64_t(to.index) - from.index, to.value};
}

/// `count` clauses, of which the first two are given.
static Clause joined(const Clause &first, const Clause &second, size_t count) {
  Clause result = first;
  Clause::Loop &loop = result.loops[result.loopCount++] = step(first, second);
  loop.count = static_cast<uint32_t>(count);
  return result;
}

/// Whether the values have runs of the same shapes, and those of `b` lie from those of `a` as those of `d` from `c`.
bool Compressor::parallel(uint32_t a, uint32_t b, uint32_t c, uint32_t d) const {
  if (a == b && c == d && a == c)
    return true;
  auto runs = [&](uint32_t value) { return post.runs.begin() + post.valueBegin[value]; };
  auto size = [&](uint32_t value) { return post.valueBegin[value + 1] - post.valueBegin[value]; };
  if (size(a) != size(b) || size(a) != size(c) || size(a) != size(d))
    return false;
  auto sameShape = [](const Run &x, const Run &y) {
    return x.length == y.length && x.rankStride == y.rankStride && x.indexStride == y.indexStride;
  };
  for (uint32_t i = 0; i != size(a); ++i) {
    const Run &p = runs(a)[i], &q = runs(b)[i], &r = runs(c)[i], &s = runs(d)[i];
    if (!sameShape(p, q) || !sameShape(p, r) || !sameShape(p, s) || q.rank - p.rank != s.rank - r.rank ||
        q.index - p.index != s.index - r.index)
      return false;
  }
  return true;
}

/// Whether the clauses differ in nothing but where they begin.
bool Compressor::alike(const Clause &a, const Clause &b) const {
  if (a.loopCount != b.loopCount || !parallel(a.value, b.value, a.value, b.value))
    return false;
  for (uint32_t i = 0; i != a.loopCount; ++i) {
    const Clause::Loop &x = a.loops[i], &y = b.loops[i];
    if (x.count != y.count || x.rankStep != y.rankStep || x.indexStep != y.indexStep ||
        !parallel(a.value, x.value, b.value, y.value))
      return false;
  }
  return true;
}

/// Whether `c` follows `b` as `b` follows `a`.
bool Compressor::continues(const Clause &a, const Clause &b, const Clause &c) const {
  Clause::Loop x = step(a, b), y = step(b, c);
  return x.rankStep == y.rankStep && x.indexStep == y.indexStep && alike(b, c) &&
         parallel(a.value, b.value, b.value, c.value);
}

/// Replaces neighbours that move evenly by one clause with one loop more.
void Compressor::join(Clauses &list) const {
  size_t kept = 0;
  for (size_t first = 0; first != list.size();) {
    size_t last = first + 1; // past the clauses that are joined
    if (last != list.size() && alike(list[first], list[last]))
      do
        ++last;
      while (last != list.size() && continues(list[last - 2], list[last - 1], list[last]));
    list[kept++] = last - first == 1 ? list[first] : joined(list[first], list[first + 1], last - first);
    first = last;
  }
  list.resize(kept);
}

std::vector<Clause> Compressor::clausesOf(uint32_t rank) const {
  Clauses row;
  for (uint32_t index = 0; index != collective.size(rank, OutputBuffer); ++index)
    if (uint32_t wanted = post.wanted(rank, index); wanted != Postcondition::Anything)
      row.push_back({rank, index, wanted - 1, 0, {}});
  join(row); // chunks
  join(row); // blocks
  return row;
}

/// Gives the clauses of a row its first evenly spaced ranks; further ones become copies.
void Compressor::addRanks(Clauses &row, const std::vector<uint32_t> &ranks) {
  for (size_t first = 0; first != ranks.size();) {
    size_t last = first + 1;
    uint32_t spacing = last == ranks.size() ? 1 : ranks[last] - ranks[first];
    while (last != ranks.size() && ranks[last] - ranks[last - 1] == spacing)
      ++last;
    auto count = static_cast<uint32_t>(last - first);
    if (first != 0)
      rowCopies.push_back({ranks[0], ranks[first], spacing, count});
    else if (count != 1)
      for (Clause &clause : row)
        clause.loops[clause.loopCount++] = {count, spacing, 0, clause.value};
    first = last;
  }
}

/// Joins rows that move evenly, clause by clause.
std::vector<Clause> Compressor::joinRows(std::vector<Clauses> &rows) const {
  Clauses result;
  auto all = [](const Clauses &a, const Clauses &b, auto holds) {
    bool good = a.size() == b.size();
    for (size_t i = 0; good && i != a.size(); ++i)
      good = holds(i);
    return good;
  };
  for (size_t first = 0; first != rows.size();) {
    size_t last = first + 1;
    const auto &model = rows[first];
    if (last != rows.size() && all(model, rows[last], [&](size_t i) { return alike(model[i], rows[last][i]); }))
      do
        ++last;
      while (last != rows.size() && all(model, rows[last], [&](size_t i) {
               return continues(rows[last - 2][i], rows[last - 1][i], rows[last][i]);
             }));
    for (size_t i = 0; i != model.size(); ++i)
      result.push_back(last - first == 1 ? model[i] : joined(model[i], rows[first + 1][i], last - first));
    first = last;
  }
  return result;
}

std::vector<Clause> Compressor::run() {
  std::vector<std::vector<uint32_t>> ranksOf(post.rowBegin.size() - 1); // by row
  for (uint32_t rank = 0; rank != collective.ranks; ++rank)
    ranksOf[post.rowOfRank[rank]].push_back(rank);
  std::vector<Clauses> rows;
  for (const std::vector<uint32_t> &ranks : ranksOf) {
    if (ranks.empty())
      continue;
    Clauses row = clausesOf(ranks[0]);
    if (row.empty())
      continue;
    addRanks(row, ranks);
    rows.push_back(std::move(row));
  }
  return joinRows(rows);
}

/// One letter for each counter (r and g move ranks, c and b chunks, q is a reduction's), and beginnings that leave
/// `output(r, c)` without a constant where one loop moves the rank, or the chunk, by ones.
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

/// The number by what is printed for the counters, which need not begin with 0.
Affine ClausePrinter::shifted(Affine number) const {
  for (size_t i = 0; i != number.steps.size(); ++i)
    number.constant -= number.steps[i] * firsts[i];
  return number;
}

/// What adds comes before the constant, what subtracts behind it.
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
