// SPDX-License-Identifier: Apache-2.0
// The identity of a collective: its form, and a hash of what it promises. The hash is stored in bundles, so it must not
// change. It adds the hashes of contributions, so their order does not matter.
#include "gc3/Common/StandardCollective.h"
#include "gc3/IR/Collective.h"

using namespace gc3::ir;

/// The finalizer of SplitMix64.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

namespace {

class MeaningHash {
public:
  explicit MeaningHash(const Collective &collective)
      : collective(collective), post(collective.post),
        chunks(std::max({collective.input.chunks, collective.output.chunks, 1U})) {}

  uint64_t run();

private:
  static constexpr uint32_t Mixed = ~uint32_t(0);

  /// A value of the postcondition.
  struct Value {
    uint64_t inBlocks = 0; ///< hash of the ranks and blocks of its contributions
    uint64_t inChunks = 0; ///< hash of the ranks and chunks of its contributions
    uint32_t column = 0;   ///< number of all contributions in their blocks, or Mixed
  };

  Value valueOf(uint32_t number) const;
  bool movesBlocks(llvm::ArrayRef<uint32_t> row) const;
  uint64_t hashOf(llvm::ArrayRef<uint32_t> row, uint32_t stride) const;
  llvm::ArrayRef<uint32_t> row(uint32_t number) const {
    return llvm::ArrayRef(post.rows).slice(post.rowBegin[number], post.rowBegin[number + 1] - post.rowBegin[number]);
  }

  const Collective &collective;
  const Postcondition &post;
  const uint32_t chunks; // in a block
  std::vector<Value> values;
};

} // namespace

MeaningHash::Value MeaningHash::valueOf(uint32_t number) const {
  Value value;
  value.column = post.runs[post.valueBegin[number]].index % chunks;
  for (uint32_t i = post.valueBegin[number]; i != post.valueBegin[number + 1]; ++i) {
    const Run &run = post.runs[i];
    for (int64_t step = 0; step != run.length; ++step) {
      const auto rank = static_cast<uint64_t>(run.rank + step * run.rankStride);
      const auto index = static_cast<uint32_t>(run.index + step * run.indexStride);
      value.inBlocks += mix(rank << 32 | index / chunks);
      value.inChunks += mix(rank << 32 | index);
      if (index % chunks != value.column)
        value.column = Mixed;
    }
  }
  return value;
}

/// Returns true if the row moves whole blocks: in each block, chunk i holds chunks with number i of the same blocks.
bool MeaningHash::movesBlocks(llvm::ArrayRef<uint32_t> row) const {
  for (size_t i = 0; i != row.size(); ++i) {
    const uint32_t own = row[i], first = row[i - i % chunks];
    if (own == Postcondition::Anything || first == Postcondition::Anything) {
      if (own != first)
        return false;
    } else if (values[own - 1].column != i % chunks || values[own - 1].inBlocks != values[first - 1].inBlocks) {
      return false;
    }
  }
  return true;
}

/// Returns a hash of each `stride`-th entry, in blocks if there is only one per block.
uint64_t MeaningHash::hashOf(llvm::ArrayRef<uint32_t> row, uint32_t stride) const {
  uint64_t hash = row.size() / stride;
  for (size_t i = 0; i < row.size(); i += stride) {
    const uint32_t entry = row[i];
    const uint64_t value = entry == Postcondition::Anything ? 0
                           : stride == chunks               ? values[entry - 1].inBlocks
                                                            : values[entry - 1].inChunks;
    hash = mix(hash ^ mix(value));
  }
  return hash;
}

uint64_t MeaningHash::run() {
  for (uint32_t number = 0; number != post.valueCount(); ++number)
    values.push_back(valueOf(number));
  const Shape &input = collective.input, &output = collective.output;
  bool blocks = input.total() == 0 || output.total() == 0 || input.chunks == output.chunks;
  const size_t rowCount = post.rowBegin.size() - 1;
  for (uint32_t number = 0; blocks && number != rowCount; ++number)
    blocks = movesBlocks(row(number));
  std::vector<uint64_t> rows;
  for (uint32_t number = 0; number != rowCount; ++number)
    rows.push_back(hashOf(row(number), blocks ? chunks : 1));
  uint64_t hash = collective.ranks;
  for (const Shape &shape : {input, output}) {
    hash = mix(hash ^ shape.blocks);
    hash = mix(hash ^ (blocks ? 1 : shape.chunks));
  }
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    hash = mix(hash ^ (collective.hasInput[rank] | uint64_t(collective.hasOutput[rank]) << 1));
    hash = mix(hash ^ rows[post.rowOfRank[rank]]);
  }
  return std::max<uint64_t>(hash, 1);
}

uint64_t gc3::ir::meaningOf(const Collective &collective) {
  return common::findStandard(collective.name) ? 0 : MeaningHash(collective).run();
}

std::string Collective::form() const {
  if (const common::StandardCollective *standard = common::findStandard(name)) {
    const std::optional<uint32_t> root = rootOf(*standard, *this);
    return root ? name + "(root = " + std::to_string(*root) + ")" : name;
  }
  return arguments.empty() ? name : name + "(" + arguments + ")";
}
