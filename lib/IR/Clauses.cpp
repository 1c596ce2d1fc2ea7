// SPDX-License-Identifier: Apache-2.0
// Joins clauses that differ by a constant step, level by level: chunks, blocks of chunks, ranks of a row, rows.
#include "Clauses.h"

using namespace gc3::ir;

static Clause::Loop step(const Clause &from, const Clause &to) {
  return {0, int64_t(to.rank) - from.rank, int64_t(to.index) - from.index, to.value};
}

/// Returns one clause that covers `count` clauses. The first two clauses determine the step.
static Clause joined(const Clause &first, const Clause &second, size_t count) {
  Clause result = first;
  Clause::Loop &loop = result.loops[result.loopCount++] = step(first, second);
  loop.count = static_cast<uint32_t>(count);
  return result;
}

/// Returns true if the values have runs of the same shapes, and the step from `a` to `b` equals the step from `c` to
/// `d`.
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

/// Returns true if the clauses have the same loops, and their values have runs of the same shapes.
bool Compressor::sameShape(const Clause &a, const Clause &b) const {
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

/// Returns true if the step from `b` to `c` equals the step from `a` to `b`.
bool Compressor::continues(const Clause &a, const Clause &b, const Clause &c) const {
  Clause::Loop x = step(a, b), y = step(b, c);
  return x.rankStep == y.rankStep && x.indexStep == y.indexStep && sameShape(b, c) &&
         parallel(a.value, b.value, b.value, c.value);
}

/// Replaces neighbours that differ by a constant step with one clause that has one more loop.
void Compressor::join(Clauses &list) const {
  size_t kept = 0;
  for (size_t first = 0; first != list.size();) {
    size_t last = first + 1; // end of the clauses to join
    if (last != list.size() && sameShape(list[first], list[last]))
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

/// Adds a loop over the first group of evenly spaced ranks to the clauses of a row. Records the further groups as
/// copies.
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

/// Joins rows whose clauses, compared one by one, differ from the previous row by a constant step.
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
    if (last != rows.size() && all(model, rows[last], [&](size_t i) { return sameShape(model[i], rows[last][i]); }))
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
