// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ChunkHash.h"
#include "Failure.h"
#include "gc3/IR/Collective.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/DenseMap.h"

namespace gc3::sema {

/// The promises for all output chunks, by rank and chunk. Most collectives promise the same to all ranks, so all ranks
/// share one row until a rank gets a different promise.
class Promises {
public:
  struct Row {
    std::vector<uint32_t> values;   ///< by chunk: value + 1, or Postcondition::Anything
    std::vector<uint16_t> clauseOf; ///< by chunk: the clause that made the promise
  };

  /// Removes all promises. There are `ranks` ranks with `width` output chunks each.
  void reset(uint32_t ranks, uint32_t width);

  const Row &row(uint32_t rank) const { return own[rank] == Common ? common : rows[own[rank]]; }
  void set(uint32_t rank, uint32_t index, uint32_t value, uint16_t clause);
  /// Promises a value for one chunk to all ranks. Changes nothing and returns false if a rank already has a promise for
  /// it.
  bool setEverywhere(uint32_t index, uint32_t value, uint16_t clause);

private:
  static constexpr uint32_t Common = ~uint32_t(0);

  Row common;
  std::vector<Row> rows;
  std::vector<uint32_t> own; // by rank: its row in `rows`, or Common
};

/// Builds a collective from its clauses, whose numbers are already computed. Methods return false if the numbers are
/// not valid; `failure` then has the reason.
class CollectiveBuilder {
public:
  CollectiveBuilder(std::string name, const SemaOptions &semaOptions);

  bool setRanks(int64_t ranks);
  int64_t ranks() const { return collective.ranks; }
  bool setShape(ir::BufferId buffer, int64_t blocks, int64_t chunks);
  bool setOwners(ir::BufferId buffer, const std::vector<int64_t> &owners);
  /// Declares that chunk `index` of `inner` on `rank` is chunk `outerIndex` of the other buffer on `outerRank`.
  bool setAlias(ir::BufferId inner, int64_t rank, int64_t index, int64_t outerRank, int64_t outerIndex);

  // The value of an `ensures`: a multiset of input chunks.
  void resetValue() { current = NoValue; }
  bool hasValue() const { return current != NoValue; }
  void beginValue();
  bool addToValue(int64_t rank, int64_t index);
  void endValue();
  /// Declares that chunk `index` of the output of `rank` must hold the current value.
  bool ensure(int64_t rank, int64_t index, SourceRange clause);
  /// Like ensure(), for every `step`-th rank in [first, end).
  bool ensureAll(int64_t first, int64_t end, int64_t step, int64_t index, SourceRange clause);

  /// Adds an argument, such as `by = 1`, to the form of the collective.
  void addArgument(const std::string &argument) {
    collective.arguments += (collective.arguments.empty() ? "" : ", ") + argument;
  }

  /// Returns the collective, which stores equal rows once. Call once.
  ir::Collective finish();
  /// Returns the hash of each value of the postcondition.
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
  std::vector<ir::Run> pending; ///< runs of the value being built
  ChunkHash pendingHash;
  uint64_t reductionRuns = 0; ///< number of runs in all values with several chunks
  uint32_t current = NoValue;
  std::vector<ChunkHash> valueHashes;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, uint32_t> valueOfHash; ///< numbers of the values with several chunks
  std::vector<uint32_t> valueOfChunk; ///< numbers of the values with one chunk, by rank and chunk of the input;
                                      ///< NoValue, or an empty vector: none yet
  Promises promises;
  std::vector<SourceRange> clauses; ///< ensures clauses so far
};

} // namespace gc3::sema
