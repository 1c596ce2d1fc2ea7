// SPDX-License-Identifier: Apache-2.0
// Compares two postconditions. Compares two rows only once, even if many ranks share them, and two values only once,
// even if many chunks require them.
#include "gc3/IR/Collective.h"
#include <algorithm>

using namespace gc3::ir;

namespace {

class Comparison {
public:
  Comparison(const Collective &a, const Collective &b)
      : a(a), b(b), rowSeen(a.post.rowBegin.size(), None), valueSeen(a.post.valueCount(), None) {}

  std::optional<Location> run();

private:
  static constexpr uint32_t None = ~uint32_t(0);
  using Chunks = std::vector<std::pair<uint32_t, uint32_t>>;

  bool sameEntry(uint32_t own, uint32_t other);
  bool sameValue(uint32_t own, uint32_t other) const;
  static llvm::ArrayRef<Run> runsOf(const Postcondition &post, uint32_t value);
  static Chunks sorted(llvm::ArrayRef<Run> runs);

  const Collective &a, &b;
  std::vector<uint32_t> rowSeen;   // by row of a: the row of b that was found equal
  std::vector<uint32_t> valueSeen; // by value of a: the value of b that was found equal
};

} // namespace

llvm::ArrayRef<Run> Comparison::runsOf(const Postcondition &post, uint32_t value) {
  return llvm::ArrayRef(post.runs).slice(post.valueBegin[value], post.valueBegin[value + 1] - post.valueBegin[value]);
}

Comparison::Chunks Comparison::sorted(llvm::ArrayRef<Run> runs) {
  Chunks chunks;
  for (const Run &run : runs)
    for (int64_t i = 0; i != run.length; ++i)
      chunks.emplace_back(run.rank + i * run.rankStride, run.index + i * run.indexStride);
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

bool Comparison::sameValue(uint32_t own, uint32_t other) const {
  auto sameRun = [](const Run &x, const Run &y) {
    return x.rank == y.rank && x.index == y.index && x.length == y.length &&
           (x.length == 1 || (x.rankStride == y.rankStride && x.indexStride == y.indexStride));
  };
  llvm::ArrayRef<Run> ours = runsOf(a.post, own), theirs = runsOf(b.post, other);
  if (std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), sameRun))
    return true;
  return a.post.contributions(own) == b.post.contributions(other) && sorted(ours) == sorted(theirs);
}

bool Comparison::sameEntry(uint32_t own, uint32_t other) {
  if (own == Postcondition::Anything || other == Postcondition::Anything)
    return own == other;
  if (valueSeen[own - 1] == other - 1)
    return true;
  if (!sameValue(own - 1, other - 1))
    return false;
  valueSeen[own - 1] = other - 1;
  return true;
}

std::optional<Location> Comparison::run() {
  for (uint32_t rank = 0; rank != a.ranks; ++rank) {
    uint32_t ownRow = a.post.rowOfRank[rank], otherRow = b.post.rowOfRank[rank];
    if (rowSeen[ownRow] == otherRow)
      continue;
    for (uint32_t index = 0; index != a.size(rank, OutputBuffer); ++index)
      if (!sameEntry(a.post.wanted(rank, index), b.post.wanted(rank, index)))
        return Location{rank, OutputBuffer, index};
    rowSeen[ownRow] = otherRow;
  }
  return std::nullopt;
}

std::optional<Location> gc3::ir::firstDifference(const Collective &a, const Collective &b) {
  return Comparison(a, b).run();
}
