// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ChunkHash.h"
#include "Failure.h"
#include "gc3/IR/Collective.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::sema {

/// What is promised of every output chunk, rank by rank and chunk by chunk. Most collectives promise the same to all
/// ranks: what they do is kept once, until a rank is promised something else.
class Promises {
public:
  struct Row {
    std::vector<uint32_t> values;   ///< by chunk: value + 1, or Postcondition::Anything
    std::vector<uint16_t> clauseOf; ///< by chunk: which clause said so
  };

  /// Nothing is promised of `width` chunks on each of `ranks` ranks.
  void reset(uint32_t ranks, uint32_t width);

  const Row &row(uint32_t rank) const { return own[rank] == Common ? common : rows[own[rank]]; }
  void set(uint32_t rank, uint32_t index, uint32_t value, uint16_t clause);
  /// Promises a value to all ranks. False, and nothing done, if one of them is promised anything there already.
  bool setEverywhere(uint32_t index, uint32_t value, uint16_t clause);

private:
  static constexpr uint32_t Common = ~uint32_t(0);

  Row common;
  std::vector<Row> rows;
  std::vector<uint32_t> own; // by rank: its row in `rows`, or Common
};

/// Takes the clauses of a collective with numbers filled in, and builds the collective. Methods return whether the
/// numbers make sense; if not, `failure` says why.
class CollectiveBuilder {
public:
  CollectiveBuilder(std::string name, const SemaOptions &semaOptions);

  bool setRanks(int64_t ranks);
  int64_t ranks() const { return collective.ranks; }
  bool setShape(ir::BufferId buffer, int64_t blocks, int64_t chunks);
  bool setOwners(ir::BufferId buffer, const std::vector<int64_t> &owners);
  /// Chunk `index` of `inner` on `rank` is chunk `outerIndex` of the other buffer on `outerRank`.
  bool setAlias(ir::BufferId inner, int64_t rank, int64_t index, int64_t outerRank, int64_t outerIndex);

  // The value of an `ensures`: a multiset of input chunks.
  void resetValue() { current = NoValue; }
  bool hasValue() const { return current != NoValue; }
  void beginValue();
  bool addToValue(int64_t rank, int64_t index);
  void endValue();
  /// Chunk `index` of the output of `rank` must hold the value.
  bool ensure(int64_t rank, int64_t index, SourceRange clause);
  /// The same for ranks [first, end), every `step`-th.
  bool ensureAll(int64_t first, int64_t end, int64_t step, int64_t index, SourceRange clause);

  /// The collective with equal rows shared. Call once.
  ir::Collective finish();
  /// Of each value of the postcondition.
  const std::vector<ChunkHash> &hashes() const { return valueHashes; }

  Failure failure;

private:
  static constexpr uint32_t NoValue = ~uint32_t(0);

  bool fail(DiagId id, std::string message);
  bool checkChunk(ir::BufferId buffer, int64_t rank, int64_t index) {
    bool isThere = rank >= 0 && rank < collective.ranks && index >= 0 &&
                   index < collective.size(static_cast<uint32_t>(rank), buffer);
    return isThere || refuseChunk(buffer, rank, index);
  }
  bool refuseChunk(ir::BufferId buffer, int64_t rank, int64_t index);
  uint32_t &knownValue(bool &isNew);
  bool canPromise(int64_t rank, int64_t index, SourceRange clause);
  uint16_t clauseNumber() const { return static_cast<uint16_t>(std::min<size_t>(clauses.size() - 1, 65535)); }

  const SemaOptions &options;
  ir::Collective collective;
  std::vector<ir::Run> pending; ///< runs of the value that is being made
  ChunkHash pendingHash;
  uint64_t reductionRuns = 0; ///< of the values of several chunks so far
  uint32_t current = NoValue;
  std::vector<ChunkHash> valueHashes;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, uint32_t> valueOfHash; ///< of several chunks
  std::vector<uint32_t> valueOfChunk; ///< of one chunk, by rank and chunk of the input; NoValue, or empty: none yet
  Promises promises;
  std::vector<SourceRange> clauses; ///< the ensures clauses so far
};

} // namespace gc3::sema
