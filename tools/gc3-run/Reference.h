// SPDX-License-Identifier: Apache-2.0
// Checks outputs against the bundle's postcondition. The postcondition names, for each output chunk, the input chunks
// that it must combine. Every element is compared with their reduction, which is computed in higher precision. Each
// distinct value is computed once, in batches that fit into the cache, and compared on all ranks that hold it.
//
// Tolerance: the error of k operations that round is at most (1 + u)^k - 1 times the sum of magnitudes. u is the type's
// unit roundoff; for fp8, plus the unit roundoff of half, in which fp8 is computed. k is counted per element: it is the
// number of additions whose operands are not zero, or of multiplications whose operands are not one. An average adds
// the roundings of the reciprocal (for fp8, in half) and of the product. Copies, min, max, integers, and sums of the
// whole numbers of Inputs.h are exact. Roundings below the normal range add an absolute error: none for sums; half the
// smallest subnormal number for each scaled operand of an average; for products the same for each operand, times the
// product of all factors above 1, because later factors enlarge it.
//
// Overflow: the order of the operations is the program's, so a partial result can exceed the range of the type in any
// order. The largest partial sums are the sum of the positive operands and that of the negative operands. If one of
// them exceeds the range, an infinity of its sign is right; if both do, NaN is right, too. The largest partial product
// is the product of all factors above 1. If it exceeds the range, an infinity with the sign of the product is right.
// NaN is right, too, if the product of the other factors can round to 0. fp8 saturates. There the result can lack as
// much as the largest partial result exceeds the range by.
#pragma once

#include "Inputs.h"
#include "bundle/BundleFile.h"
#include "core/Program.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc3::run {

/// Chunks of one kind of buffer: chunk c begins at element begin(c) of its rank's buffer.
struct Chunks {
  uint64_t perBlock = 1;
  uint64_t blockElements = 0;
  uint64_t chunkElements = 0;
  uint64_t begin(uint64_t chunk) const {
    return chunk / perBlock * blockElements + std::min(chunk % perBlock * chunkElements, blockElements);
  }
  uint64_t length(uint64_t chunk) const {
    uint64_t from = std::min(chunk % perBlock * chunkElements, blockElements);
    return std::min(from + chunkElements, blockElements) - from;
  }
};

/// The postcondition of one program, inverted: it lists, for each value, the output chunks that must hold the value.
class Postcondition {
public:
  /// `inputChunks[r]` and `outputChunks[r]` are the numbers of chunks in rank r's buffers. Lists the output chunks of
  /// the ranks `own`. Returns an error message, or an empty string.
  std::string load(const bundle::CheckView &view, const std::vector<uint64_t> &inputChunks,
                   const std::vector<uint64_t> &outputChunks, core::RankRange own);
  /// Loads what a run without the check needs: afterwards only reduces() is right. Never fails.
  void loadWithoutChunks(const bundle::CheckView &view);

  struct Chunk {
    uint32_t rank;
    uint32_t index;
  };
  struct Input {
    Chunk chunk;
    uint32_t times; ///< how many times the value contains the chunk
  };
  size_t values() const { return inputBegin.size() - 1; }
  std::span<const Input> inputs(size_t value) const { return slice(inputList, inputBegin, value); }
  std::span<const Chunk> outputs(size_t value) const { return slice(outputList, outputBegin, value); }
  /// Returns true if an output chunk combines two or more input chunks.
  bool reduces() const { return anyReduction; }

private:
  template <typename Item>
  static std::span<const Item> slice(const std::vector<Item> &list, const std::vector<size_t> &begin, size_t value) {
    return {list.data() + begin[value], begin[value + 1] - begin[value]};
  }
  std::vector<Input> inputList;
  std::vector<Chunk> outputList;
  std::vector<size_t> inputBegin{0}, outputBegin{0};
  bool anyReduction = false;
};

/// The data to compare: the outputs of the ranks of this process, with their reference. If inputs of other ranks
/// contribute to it, the check makes them again, one batch at a time.
struct CheckJob {
  const Postcondition *postcondition;
  InputKind inputKind; ///< of the inputs in this round
  Reduction op;
  double wholeNumbers; ///< sums of whole operands are exact up to this sum of magnitudes; 0: not exact
  Chunks inputChunks, outputChunks;
  core::RankRange own;                            ///< the ranks of this process
  std::vector<const std::byte *> inputs, outputs; ///< of the own ranks
};

struct CheckResult {
  uint64_t wrong = 0;
  std::string first; ///< description of one wrong element
};

CheckResult checkOutputs(const CheckJob &job);

} // namespace gc3::run
