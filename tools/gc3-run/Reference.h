// SPDX-License-Identifier: Apache-2.0
// Checks outputs against the bundle's postcondition: every element that it names is compared with the reduction of the
// input chunks that it names, computed in higher precision. Each distinct value is computed once, a few thousand
// elements at a time, and compared on all ranks that hold it.
//
// Tolerance: k operations that round have a relative error of at most (1 + u)^k - 1 of the sum of magnitudes, u being
// the type's unit roundoff (fp8: plus half's, as it is computed in half). k is the number of additions whose operands
// are not zero (multiplications: not one), counted per element; an average adds the reciprocal's rounding (fp8: in
// half) and the product's. Sums of the whole numbers of Inputs.h, integers, copies, min and max are exact. Sums never
// round below the normal range; each scaled operand of an average by half the smallest subnormal, products by 16 times
// as much (what follows grows it).
#pragma once

#include "Reduction.h"
#include "bundle/BundleFile.h"

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

/// The postcondition of one program, turned around: by value the output chunks that must hold it.
class Postcondition {
public:
  /// `inputChunks[r]` and `outputChunks[r]` are numbers of chunks. Returns what is wrong, or an empty string.
  std::string load(const bundle::CheckView &view, const std::vector<uint64_t> &inputChunks,
                   const std::vector<uint64_t> &outputChunks);

  struct Chunk {
    uint32_t rank;
    uint32_t index;
  };
  size_t values() const { return inputBegin.size() - 1; }
  std::span<const Chunk> inputs(size_t value) const { return slice(inputList, inputBegin, value); }
  std::span<const Chunk> outputs(size_t value) const { return slice(outputList, outputBegin, value); }
  /// Some output combines two or more inputs.
  bool reduces() const { return anyReduction; }

private:
  static std::span<const Chunk> slice(const std::vector<Chunk> &list, const std::vector<size_t> &begin, size_t value) {
    return {list.data() + begin[value], begin[value + 1] - begin[value]};
  }
  std::vector<Chunk> inputList, outputList;
  std::vector<size_t> inputBegin{0}, outputBegin{0};
  bool anyReduction = false;
};

/// What to compare, by rank.
struct CheckJob {
  const Postcondition *postcondition;
  core::ElementType type;
  Reduction op;
  uint32_t contributions; ///< divisor of averages
  double wholeNumbers;    ///< operands of sums are whole, and exact while their magnitudes' sum is at most this; or 0
  Chunks inputChunks, outputChunks;
  std::vector<const std::byte *> inputs, outputs;
};

struct CheckResult {
  uint64_t wrong = 0;
  std::string first; ///< one wrong element in words
};

CheckResult checkOutputs(const CheckJob &job);

} // namespace gc3::run
