// SPDX-License-Identifier: Apache-2.0
// The one form of a postcondition: equal rows stored once, rows numbered by their first rank, values by the first row
// that wants them. So whoever says the same promises in whatever order gets the same tables. Linear in output chunks.
#include "gc3/IR/Collective.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>
#include <unordered_map>

using namespace gc3::ir;

static constexpr uint32_t NoRow = ~uint32_t(0);

static void shareRows(Collective &collective, const std::vector<uint32_t> &wanted) {
  Postcondition &post = collective.post;
  std::unordered_multimap<size_t, uint32_t> rowsOfHash; // looked up only; its order does not matter
  uint32_t emptyRow = NoRow;                            // of the ranks without output
  auto endRow = [&] {
    post.rowBegin.push_back(static_cast<uint32_t>(post.rows.size()));
    return static_cast<uint32_t>(post.rowBegin.size()) - 2;
  };
  size_t width = collective.output.total();
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    if (!collective.hasOutput[rank]) {
      emptyRow = emptyRow == NoRow ? endRow() : emptyRow;
      post.rowOfRank.push_back(emptyRow);
      continue;
    }
    const uint32_t *row = wanted.data() + rank * width;
    size_t hash = llvm::hash_combine_range(row, row + width);
    uint32_t found = NoRow;
    for (auto [at, end] = rowsOfHash.equal_range(hash); at != end && found == NoRow; ++at)
      if (std::equal(row, row + width, post.rows.begin() + post.rowBegin[at->second]))
        found = at->second;
    if (found == NoRow) {
      post.rows.insert(post.rows.end(), row, row + width);
      found = endRow();
      rowsOfHash.emplace(hash, found);
    }
    post.rowOfRank.push_back(found);
  }
}

/// Renumbers the values in the order of `rows`, which is changed accordingly. Returns the old numbers by new ones.
static std::vector<uint32_t> numberValues(Postcondition &post) {
  std::vector<uint32_t> oldOf;
  std::vector<uint32_t> newOf(post.valueCount() + size_t(1), Postcondition::Anything); // + 1, by old + 1
  for (uint32_t &entry : post.rows) {
    if (entry != Postcondition::Anything && newOf[entry] == Postcondition::Anything) {
      oldOf.push_back(entry - 1);
      newOf[entry] = static_cast<uint32_t>(oldOf.size());
    }
    entry = newOf[entry];
  }
  std::vector<uint32_t> begin = {0};
  std::vector<Run> runs;
  runs.reserve(post.runs.size());
  for (uint32_t old : oldOf) {
    runs.insert(runs.end(), post.runs.begin() + post.valueBegin[old], post.runs.begin() + post.valueBegin[old + 1]);
    begin.push_back(static_cast<uint32_t>(runs.size()));
  }
  post.valueBegin = std::move(begin);
  post.runs = std::move(runs);
  return oldOf;
}

std::vector<uint32_t> gc3::ir::setRows(Collective &collective, const std::vector<uint32_t> &wanted) {
  shareRows(collective, wanted);
  return numberValues(collective.post);
}
