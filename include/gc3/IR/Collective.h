// SPDX-License-Identifier: Apache-2.0
// The contract of a program: the buffer shapes, the overlap of input and output, and the postcondition.
#pragma once

#include "gc3/Common/Opcode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::common {
struct StandardCollective;
}

namespace gc3::ir {

/// Buffers by number: the input, the output, then the scratch buffers of the program.
using BufferId = uint8_t;
inline constexpr BufferId InputBuffer = common::inputBuffer;
inline constexpr BufferId OutputBuffer = common::outputBuffer;
inline constexpr BufferId FirstScratchBuffer = common::firstScratchBuffer;
inline constexpr uint32_t MaxBuffers = 250;

/// `blocks` blocks of `chunks` chunks each. The elements of each block are divided among its chunks. The shape 0 × 0
/// means that no rank has the buffer.
struct Shape {
  uint32_t blocks = 0;
  uint32_t chunks = 0;
  uint32_t total() const { return blocks * chunks; } ///< does not overflow, because the front end limits it
};

/// Overlap of the two buffers of one rank. The outer buffer, named last in the kind, contains the inner one from chunk
/// `offset` on.
struct RankAlias {
  enum Kind : uint8_t { None, InputInOutput, OutputInInput };
  Kind kind = None;
  uint32_t offset = 0;
};

/// A run of `length` input chunks; chunk i is (rank + i * rankStride, index + i * indexStride).
struct Run {
  uint32_t rank;
  uint32_t index;
  int32_t rankStride;
  int32_t indexStride;
  uint32_t length;
};

/// For each output chunk, the multiset of input chunks that it must hold. Output chunks with equal contents share a
/// value, and ranks with equal outputs share a row. So an AllReduce of R ranks and C chunks takes O(R + C) space.
struct Postcondition {
  static constexpr uint32_t Anything = 0;

  std::vector<uint32_t> valueBegin = {0}; ///< value v consists of runs [valueBegin[v], valueBegin[v + 1])
  std::vector<Run> runs;
  std::vector<uint32_t> rowOfRank;
  std::vector<uint32_t> rowBegin = {0}; ///< row w consists of rows [rowBegin[w], rowBegin[w + 1]), one entry per output
                                        ///< chunk
  std::vector<uint32_t> rows;           ///< value + 1, or Anything

  uint32_t valueCount() const { return static_cast<uint32_t>(valueBegin.size()) - 1; }
  /// Returns 1 + the number of the value that chunk `index` of `rank`'s output must hold, or Anything.
  uint32_t wanted(uint32_t rank, uint32_t index) const { return rows[rowBegin[rowOfRank[rank]] + index]; }
  /// Returns the number of input chunks in value `v`, with multiplicity.
  uint64_t contributions(uint32_t v) const;
  /// Returns true if some output chunk must hold a value. Otherwise no result of a program can be wrong.
  bool promises() const { return !runs.empty(); }
};

/// Describes a value for messages: "input(1, 0)" or "the reduction of 8 chunks: input(0, 0), input(1, 0), ...".
std::string describeValue(const Postcondition &post, uint32_t value);

/// A collective with values for its parameters.
struct Collective {
  std::string name;
  std::string arguments; ///< the text between the parentheses of form(); empty for standard collectives
  uint32_t ranks = 0;
  Shape input, output;
  std::vector<uint8_t> hasInput, hasOutput; ///< by rank
  std::vector<RankAlias> aliases;           ///< by rank
  Postcondition post;

  /// Returns the number of chunks of a rank's input or output; 0 if the rank does not have the buffer.
  uint32_t size(uint32_t rank, BufferId buffer) const {
    if (buffer == InputBuffer)
      return hasInput[rank] ? input.total() : 0;
    return hasOutput[rank] ? output.total() : 0;
  }
  /// Returns true if some rank's input lies in its output, or its output in its input.
  bool inPlace() const;
  /// Returns the name with all arguments that can change the meaning: `shift(n = 4, by = 1)`, `broadcast(root = 1)`,
  /// `allreduce`. A standard collective has only its root, because the name gives the meaning of all else.
  std::string form() const;
};

/// Sets the rows of `collective.post`. `wantedOf(rank)` returns, for each output chunk, 1 + the number of its value, or
/// Anything. It is called only for ranks that have an output. Removes values that no row uses, and numbers the others
/// in the order of the rows. Returns the old number of each new value.
std::vector<uint32_t> setRows(Collective &collective, llvm::function_ref<llvm::ArrayRef<uint32_t>(uint32_t)> wantedOf);

/// One chunk of one buffer of one rank.
struct Location {
  uint32_t rank;
  BufferId buffer;
  uint32_t index;
};

/// Returns the first output chunk for which two collectives with the same buffers promise different contents, or
/// nothing. The numbering of values and the order of contributions do not matter. Linear in their rows and runs, and in
/// the contributions of values whose runs differ.
std::optional<Location> firstDifference(const Collective &a, const Collective &b);

/// Returns a hash of the buffers in blocks, and of the promise; 0 for standard collectives. Equal hashes mean that
/// calls on the same number of ranks move data in the same way. Neither aliases nor the order of contributions matter.
/// The number of chunks matters only if a chunk holds anything except chunks with its own number in their blocks.
/// Linear in rows and contributions.
uint64_t meaningOf(const Collective &collective);

/// Returns the root: the first rank with the buffer that only the root has. Returns nothing if the standard collective
/// has no root, or if no rank has that buffer.
std::optional<uint32_t> rootOf(const common::StandardCollective &standard, const Collective &collective);

/// Returns the unique name of a location. An in-place program can name a location through either buffer; the result
/// names the outer one. `location.index` counts slots, and a chunk has `scale` slots.
Location canonical(const Collective &collective, Location location, uint32_t scale = 1);

} // namespace gc3::ir
