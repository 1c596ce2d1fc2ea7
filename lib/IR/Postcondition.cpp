// SPDX-License-Identifier: Apache-2.0
// Builds the canonical form of a postcondition. Stores equal rows once. Numbers rows in the order of their first ranks,
// and values in the order of the first rows that require them. Equal promises give equal tables, in whatever order they
// are listed. Linear in the output chunks.
#include "gc3/IR/Collective.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>
#include <unordered_map>

using namespace gc3::ir;

static constexpr uint32_t NoRow = ~uint32_t(0);

using RowOf = llvm::function_ref<llvm::ArrayRef<uint32_t>(uint32_t)>;

static void shareRows(Collective &collective, RowOf wantedOf) {
  Postcondition &post = collective.post;
  std::unordered_multimap<size_t, uint32_t> rowsOfHash; // used for lookups only, so its order does not matter
  uint32_t emptyRow = NoRow;                            // row of the ranks without output
  auto endRow = [&] {
    post.rowBegin.push_back(static_cast<uint32_t>(post.rows.size()));
    return static_cast<uint32_t>(post.rowBegin.size()) - 2;
  };
  llvm::ArrayRef<uint32_t> latest; // row of the previous rank, which often repeats
  uint32_t latestRow = NoRow;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    if (!collective.hasOutput[rank]) {
      emptyRow = emptyRow == NoRow ? endRow() : emptyRow;
      post.rowOfRank.push_back(emptyRow);
      continue;
    }
    llvm::ArrayRef<uint32_t> row = wantedOf(rank);
    if (row.data() == latest.data() && !latest.empty()) {
      post.rowOfRank.push_back(latestRow);
      continue;
    }
    size_t hash = llvm::hash_combine_range(row.begin(), row.end());
    uint32_t found = NoRow;
    for (auto [at, end] = rowsOfHash.equal_range(hash); at != end && found == NoRow; ++at)
      if (std::equal(row.begin(), row.end(), post.rows.begin() + post.rowBegin[at->second]))
        found = at->second;
    if (found == NoRow) {
      post.rows.insert(post.rows.end(), row.begin(), row.end());
      found = endRow();
      rowsOfHash.emplace(hash, found);
    }
    post.rowOfRank.push_back(found);
    latest = row;
    latestRow = found;
  }
}

/// Renumbers the values in the order of `rows`, and updates `rows`. Returns the old number of each new value.
static std::vector<uint32_t> numberValues(Postcondition &post) {
  std::vector<uint32_t> oldOf;
  std::vector<uint32_t> newOf(post.valueCount() + size_t(1), Postcondition::Anything); // new number + 1, by old + 1
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

std::vector<uint32_t> gc3::ir::setRows(Collective &collective, RowOf wantedOf) {
  shareRows(collective, wantedOf);
  return numberValues(collective.post);
}
