// SPDX-License-Identifier: Apache-2.0
// Chooses an arm for each call of one context (docs/selection.md). A choice depends only on the arms, and on the
// sequence of calls of choose() and add(). So selectors on several ranks choose alike if their ranks make these calls
// in the same order, with the same arguments.
#pragma once

#include "select/Budget.h"

#include <cstdint>
#include <vector>

namespace gc3::select {

/// The arms of a context, and what is known about them before the first call.
struct Arms {
  uint32_t buckets = 0, count = 0;
  std::vector<float> predicted; ///< by bucket * count + arm, in microseconds. NaN: unknown. Infinity: the arm can't run
  std::vector<uint32_t> fixed;  ///< by bucket: the arm that runs calls if nothing is learned
};

class Selector {
public:
  /// `budget` must outlive this object. At least one arm of each bucket can run.
  Selector(Arms arms, Budget &budget);

  /// Returns the arm for the next call in the bucket. Allocates nothing.
  uint32_t choose(uint32_t bucket);
  /// Adds the time of a call, in microseconds, for which choose() has returned `arm`. Times can arrive in any order,
  /// and can be missing.
  void add(uint32_t bucket, uint32_t arm, float microseconds);
};

} // namespace gc3::select
