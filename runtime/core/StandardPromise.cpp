// SPDX-License-Identifier: Apache-2.0
// In all eight standard collectives, chunk i of rank r's output is chunk j of one rank's input, or chunk j of the sum
// of all ranks' inputs. This code converts each value of the bundle to that form once. Then it compares the value with
// each output chunk that refers to it.
#include "core/Proofs.h"

#include <algorithm>

namespace gc3::core {

using common::StandardCollective;

namespace {

/// One chunk of one rank's input, or one chunk of the sum of all ranks' inputs.
struct Chunk {
  static constexpr uint32_t allRanks = UINT32_MAX;
  static constexpr uint32_t neither = UINT32_MAX - 1; ///< `rank` of a value that is neither of the two
  uint32_t rank = neither;
  uint32_t index = 0;
  bool operator==(const Chunk &) const = default;
};

class Promises {
public:
  Promises(const Program &checked, const bundle::CheckView &said, const StandardCollective &wanted, uint32_t rootRank)
      : program(checked), promised(said), standard(wanted), root(rootRank),
        chunks(checked.info().input_chunks_per_block()), seen(checked.ranks()) {
    for (size_t v = 0; v + 1 < promised.valueBegin.size(); ++v)
      values.push_back(
          chunkOf(promised.runs.subspan(promised.valueBegin[v], promised.valueBegin[v + 1] - promised.valueBegin[v])));
  }

  /// Sets `rank` and `index` to the first output chunk whose promise differs from the collective's. Returns false if
  /// there is none.
  bool findDifference(uint32_t &rank, uint32_t &index) const {
    for (rank = 0; rank != program.ranks(); ++rank)
      if (!sameRow(rank, index))
        return true;
    return false;
  }

private:
  Chunk chunkOf(std::span<const bundle::fbs::Run> runs);
  bool sameRow(uint32_t rank, uint32_t &index) const;
  Chunk wantedIn(uint32_t rank, uint32_t index) const;

  const Program &program;
  const bundle::CheckView &promised;
  const StandardCollective &standard;
  const uint32_t root, chunks;
  std::vector<bool> seen; ///< scratch memory of chunkOf, indexed by rank
  std::vector<Chunk> values;
};

} // namespace

Chunk Promises::chunkOf(std::span<const bundle::fbs::Run> runs) {
  uint64_t length = 0;
  for (const auto &run : runs) {
    length += run.length();
    if (run.index() != runs[0].index() || (run.length() > 1 && run.index_stride() != 0))
      return {};
  }
  if (length == 1 && program.ranks() != 1)
    return {runs[0].rank(), runs[0].index()};
  if (length != program.ranks())
    return {};
  seen.assign(program.ranks(), false);
  for (const auto &run : runs)
    for (int64_t i = 0; i != run.length(); ++i)
      seen[static_cast<size_t>(run.rank() + i * run.rank_stride())] = true;
  bool everyone = std::all_of(seen.begin(), seen.end(), [](bool rank) { return rank; });
  return everyone ? Chunk{Chunk::allRanks, runs[0].index()} : Chunk{};
}

/// Returns the chunk that output chunk `index` of a rank must hold. With a single rank, its input is the sum of all
/// inputs, as in chunkOf().
Chunk Promises::wantedIn(uint32_t rank, uint32_t index) const {
  uint32_t source = isWide(standard.output) ? index / chunks : root;
  uint32_t block = isWide(standard.input) ? rank : 0;
  return {standard.reduces || program.ranks() == 1 ? Chunk::allRanks : source, block * chunks + index % chunks};
}

bool Promises::sameRow(uint32_t rank, uint32_t &index) const {
  uint32_t row = promised.rowOfRank[rank];
  auto entries = promised.rows.subspan(promised.rowBegin[row], promised.rowBegin[row + 1] - promised.rowBegin[row]);
  uint32_t size = program.outputBlocks(rank) * chunks;
  bool again = rank != 0 && row == promised.rowOfRank[rank - 1] && size == entries.size() &&
               program.outputBlocks(rank - 1) * chunks == size && !isWide(standard.input);
  if (again) // here all ranks must promise one row, and this row was compared for the previous rank
    return true;
  for (index = 0; index != std::max<size_t>(size, entries.size()); ++index)
    if (index >= size || index >= entries.size() || entries[index] == 0 ||
        values[entries[index] - 1] != wantedIn(rank, index))
      return false;
  return true;
}

std::string standardPromiseProblem(const Program &program, const bundle::CheckView &promised,
                                   const StandardCollective &standard, uint32_t root) {
  uint32_t rank = 0, index = 0;
  if (!Promises(program, promised, standard, root).findDifference(rank, index))
    return {};
  return "program '" + program.info().name()->str() + "' does not promise what '" + standard.name +
         "' does: output chunk " + std::to_string(index) + " of rank " + std::to_string(rank) +
         " may hold another value; give its collective another name, or set GC3_ALLOW_UNPROVEN=1";
}

} // namespace gc3::core
