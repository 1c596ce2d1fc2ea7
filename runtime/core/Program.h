// SPDX-License-Identifier: Apache-2.0
// One program of a bundle, with all its ranks: views of the bundle's data, the connections, and the shapes of the
// buffers. The data is validated, and is the same for all calls. Loading takes one pass over the program's sections.
#pragma once

#include "bundle/BundleFile.h"

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace gc3::core {

/// Ranks `first` to `end` - 1.
struct RankRange {
  uint32_t first, end;
  uint32_t size() const { return end - first; }
  std::vector<uint32_t> list() const {
    std::vector<uint32_t> ranks(size());
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
  }
};

/// The connection for a source rank, a destination rank and a channel. Its two ends are thread blocks, numbered over
/// all ranks.
struct Connection {
  uint32_t sender;
  uint32_t receiver;
  uint32_t maxCount; ///< slots of the largest message
};

class Program {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// Loads the program with this index. `file` must outlive the program.
  static bundle::BundleResult<std::unique_ptr<Program>> load(const bundle::BundleFile &file, uint32_t index);

  /// Gives rank r the part of rank places[r], for all ranks. `places` is a permutation. Call this before any other
  /// object refers to the program's parts. The promise of the program must be the same for all permutations of ranks.
  void renumber(std::span<const uint32_t> places);

  uint32_t ranks() const { return static_cast<uint32_t>(views.size()); }
  const bundle::fbs::Program &info() const { return *table; }
  const bundle::RankView &rank(uint32_t r) const { return views[r]; }

  /// Return the number of blocks of a rank's input or output. It is 0 if the rank has no such buffer.
  uint32_t inputBlocks(uint32_t r) const { return blocks(views[r].inputSlots, table->input_chunks_per_block()); }
  uint32_t outputBlocks(uint32_t r) const { return blocks(views[r].outputSlots, table->output_chunks_per_block()); }

  /// Returns the number of rank r's first thread block. Thread blocks are numbered over all ranks. r can be ranks();
  /// the result is then the number of all thread blocks.
  uint32_t firstThreadBlock(uint32_t r) const { return firstBlock[r]; }
  uint32_t threadBlockCount() const { return firstBlock.back(); }

  /// Returns the number of rank r's first step. Steps are numbered over all ranks, in the order of their instructions.
  /// r can be ranks(); the result is then the number of all steps.
  uint32_t firstStep(uint32_t r) const { return firstStepOfRank[r]; }
  uint32_t rankOfStep(uint32_t step) const { return stepRanks[step]; }
  const bundle::fbs::Instruction &instruction(uint32_t step) const {
    uint32_t r = stepRanks[step];
    return views[r].instructions[step - firstStepOfRank[r]];
  }

  const std::vector<Connection> &connections() const { return allConnections; }
  /// Return the connection that a thread block sends to or receives from, or none.
  uint32_t outgoing(uint32_t threadBlock) const { return sendsTo[threadBlock]; }
  uint32_t incoming(uint32_t threadBlock) const { return receivesFrom[threadBlock]; }

  /// Return the only rank that has an input or an output. Return nothing if no rank has one, or several ranks have one.
  std::optional<uint32_t> onlyInput() const;
  std::optional<uint32_t> onlyOutput() const;

private:
  uint32_t blocks(uint32_t slots, uint32_t chunksPerBlock) const {
    return slots ? slots / (chunksPerBlock * table->subdivision()) : 0;
  }
  void connect();
  void numberSteps();

  const bundle::fbs::Program *table = nullptr;
  std::vector<bundle::RankView> views;
  std::vector<std::vector<bundle::fbs::ThreadBlock>> renumberedBlocks; ///< by rank; empty: those of the bundle
  std::vector<uint32_t> firstBlock;
  std::vector<uint32_t> firstStepOfRank, stepRanks;
  std::vector<Connection> allConnections;
  std::vector<uint32_t> sendsTo, receivesFrom;
};

} // namespace gc3::core
