// SPDX-License-Identifier: Apache-2.0
// Chooses an arm for each call of one context (docs/selection.md). A choice depends only on the arms, and on the
// sequence of calls of choose() and add(). So selectors on several ranks choose alike if their ranks make these calls
// in the same order, with the same arguments.
#pragma once

#include "select/Budget.h"
#include "select/Estimate.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gc3::select {

/// The arms of a context, and what is known about them before the first call.
struct Arms {
  uint32_t buckets = 0, count = 0;
  std::vector<float> predicted; ///< by bucket * count + arm, in microseconds. NaN: unknown. Infinity: the arm can't run
  std::vector<uint32_t> fixed;  ///< by bucket: the arm that runs calls if nothing is known
};

class Selector {
public:
  /// The number of a bucket's first calls in which exploration is not limited by the budget.
  static constexpr uint32_t firstCalls = 50;

  /// `budget` must outlive this object. `arms.fixed` names arms that can run.
  Selector(const Arms &arms, Budget &budget);

  /// Returns the arm for the next call in the bucket. Allocates nothing. O(arms).
  uint32_t choose(uint32_t bucket);
  /// Adds the time of a call, in microseconds, for which choose() has returned `arm`. Times can arrive late, and can be
  /// missing. O(arms).
  void add(uint32_t bucket, uint32_t arm, float microseconds);

  /// Returns the arm that choose() returns if it does not explore.
  uint32_t favourite(uint32_t bucket) const { return rows[bucket].favourite; }

private:
  struct Arm {
    Estimate estimate;
    float predicted = 0; ///< all times are logarithms of microseconds; NaN: unknown. Infinity: the arm can't run
    float expected = 0;  ///< the best guess of the next time
    float doubt = 0;     ///< standard deviation of the guess; grows with age
    uint32_t pending = 0;  ///< calls whose times have not arrived
    uint32_t lastCall = 0; ///< of the bucket
    bool canRun() const;
  };
  struct Row {
    uint32_t calls = 0;
    uint32_t favourite = 0;
    float noise = 0;        ///< relative noise of a sample
    uint32_t changedAt = 0; ///< samples of earlier calls are from before a change
  };
  Arm &at(uint32_t bucket, uint32_t arm) { return states[std::size_t(bucket) * count + arm]; }
  const Arm &at(uint32_t bucket, uint32_t arm) const { return states[std::size_t(bucket) * count + arm]; }
  float optimistic(const Row &row, const Arm &arm) const;
  uint32_t findCandidate(uint32_t bucket) const;
  double costOf(uint32_t bucket, const Arm &arm) const;
  void refresh(uint32_t bucket);
  void guess(uint32_t bucket, Arm &arm, uint32_t number, float shift, float doubt) const;
  void chooseFavourite(uint32_t bucket);

  uint32_t buckets, count;
  Budget &budget;
  std::vector<Arm> states; ///< by bucket * count + arm
  std::vector<Row> rows;   ///< by bucket
};

} // namespace gc3::select
