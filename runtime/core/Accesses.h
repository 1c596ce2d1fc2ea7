// SPDX-License-Identifier: Apache-2.0
// Records which steps read and write which slots. Buffers of a rank can overlap.
#pragma once

#include "core/HappensBefore.h"
#include "core/Program.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// A range of a rank's slots. The slots of all its buffers are numbered consecutively. A slot that two overlapping
/// buffers share has one number.
struct SlotRange {
  uint32_t begin = 0, count = 0;
  bool operator==(const SlotRange &) const = default;
};

/// The overlap of a rank's input and output.
struct Overlap {
  bundle::fbs::Alias alias = bundle::fbs::Alias::None;
  uint32_t offset = 0; ///< slot of the outer buffer where the inner buffer begins
};

struct Access {
  uint32_t step;
  bool writes;
};

class Accesses {
public:
  /// Returns whether the slots and accesses of the program are few enough to store.
  static bool affordable(const Program &program);
  /// `overlaps` is indexed by rank. `program` and `order` must outlive this object. `order.known()` must be true.
  Accesses(const Program &program, const HappensBefore &order, std::span<const Overlap> overlaps);

  /// Returns the number of all slots of a rank.
  uint32_t slots(uint32_t rank) const { return static_cast<uint32_t>(accesses[rank].size()); }
  /// Return the slots of a rank's input or output.
  SlotRange input(uint32_t rank) const { return {bufferBegin[rank][0], program.rank(rank).inputSlots}; }
  SlotRange output(uint32_t rank) const { return {bufferBegin[rank][1], program.rank(rank).outputSlots}; }
  /// Return the slots that a step reads, writes or sends.
  SlotRange source(uint32_t step) const;
  SlotRange target(uint32_t step) const;
  SlotRange sent(uint32_t step) const;

  std::span<const std::vector<Access>> of(uint32_t rank, SlotRange where) const {
    return std::span(accesses[rank]).subspan(where.begin, where.count);
  }
  template <typename Predicate>
  bool allOf(uint32_t rank, SlotRange where, Predicate predicate) const {
    auto slots = of(rank, where);
    return std::all_of(slots.begin(), slots.end(), [&](const std::vector<Access> &slotAccesses) {
      return std::all_of(slotAccesses.begin(), slotAccesses.end(), predicate);
    });
  }
  /// Remove an access from the record: the step's read of its source, or its write of its target.
  void removeRead(uint32_t step) { remove(step, source(step), false); }
  void removeWrite(uint32_t step) { remove(step, target(step), true); }

  /// Returns whether `a` ends before `b` begins in every execution. Returns false if this object has already made
  /// `mostComparisons` comparisons, to limit the time of an analysis. A false result is always safe: the analysis then
  /// only permits fewer optimisations.
  bool before(uint32_t a, uint32_t b) { return ++comparisons <= mostComparisons && order.before(a, b); }

private:
  static constexpr uint64_t mostComparisons = 1 << 24;
  SlotRange range(uint32_t step, uint32_t buffer, uint32_t index) const;
  void remove(uint32_t step, SlotRange where, bool writes);

  const Program &program;
  const HappensBefore &order;
  std::vector<std::vector<uint32_t>> bufferBegin;         ///< indexed by rank, then buffer: first slot of the buffer
  std::vector<std::vector<std::vector<Access>>> accesses; ///< indexed by rank, then slot
  uint64_t comparisons = 0;
};

} // namespace gc3::core
