// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

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

} // namespace gc3::sema
