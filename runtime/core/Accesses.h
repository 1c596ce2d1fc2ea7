// SPDX-License-Identifier: Apache-2.0
// Which steps read and write which slots, where the buffers of a rank may lie in each other.
#pragma once

#include "core/HappensBefore.h"
#include "core/Program.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace gc3::core {

/// Slots of one rank, all of its buffers numbered in a row; those that lie in each other share their numbers.
struct SlotRange {
  uint32_t begin = 0, count = 0;
  bool operator==(const SlotRange &) const = default;
};

/// How a rank's input and output lie in each other.
struct Overlap {
  bundle::fbs::Alias alias = bundle::fbs::Alias::None;
  uint32_t offset = 0; ///< slot of the outer buffer where the inner one begins
};

struct Access {
  uint32_t step;
  bool writes;
};

class Accesses {
public:
  /// Whether there are few enough to keep.
  static bool affordable(const Program &program);
  /// `overlaps` by rank. Program and order have to stay; the order is known.
  Accesses(const Program &program, const HappensBefore &order, std::span<const Overlap> overlaps);

  /// A rank's input or output.
  SlotRange input(uint32_t rank) const { return {bufferBegin[rank][0], program.rank(rank).inputSlots}; }
  SlotRange output(uint32_t rank) const { return {bufferBegin[rank][1], program.rank(rank).outputSlots}; }
  /// What a step reads, writes, sends.
  SlotRange source(uint32_t step) const;
  SlotRange target(uint32_t step) const;
  SlotRange sent(uint32_t step) const;

  std::span<const std::vector<Access>> of(uint32_t rank, SlotRange where) const {
    return std::span(accesses[rank]).subspan(where.begin, where.count);
  }
  template <typename Predicate>
  bool allOf(uint32_t rank, SlotRange where, Predicate predicate) const {
    auto slots = of(rank, where);
    return std::all_of(slots.begin(), slots.end(), [&](const std::vector<Access> &ofSlot) {
      return std::all_of(ofSlot.begin(), ofSlot.end(), predicate);
    });
  }
  /// From now on the step does not read its source here, or does not write its target.
  void forgetRead(uint32_t step) { forget(step, source(step), false); }
  void forgetWrite(uint32_t step) { forget(step, target(step), true); }

  /// Whether `a` is over when `b` begins, in every execution. When a budget of comparisons is spent nothing is known
  /// any more, which allows less.
  bool before(uint32_t a, uint32_t b) { return ++comparisons <= mostComparisons && order.before(a, b); }

private:
  static constexpr uint64_t mostComparisons = 1 << 24;
  SlotRange range(uint32_t step, uint32_t buffer, uint32_t index) const;
  void forget(uint32_t step, SlotRange where, bool writes);

  const Program &program;
  const HappensBefore &order;
  std::vector<std::vector<uint32_t>> bufferBegin;         ///< by rank, then buffer: its first slot
  std::vector<std::vector<std::vector<Access>>> accesses; ///< by rank, then slot
  uint64_t comparisons = 0;
};

} // namespace gc3::core
