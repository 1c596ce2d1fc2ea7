// SPDX-License-Identifier: Apache-2.0
// Chooses programs for ranges of sizes. A program of a bundle serves one range, so a choice divides the sizes into
// ranges, and takes a candidate for each. Sizes that are left to the baseline need no program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gc3::tune {

/// The times of all candidates in microseconds. A time is infinite if the candidate can't run a call of the size.
struct TimeTable {
  uint32_t sizes = 0, candidates = 0;
  std::vector<double> times;    ///< by candidate * sizes + size
  std::vector<double> baseline; ///< by size; infinite: the baseline can't run the call. Empty: there is no baseline

  double at(uint32_t candidate, uint32_t size) const {
    return candidate == Baseline ? baseline[size] : times[std::size_t(candidate) * sizes + size];
  }
  /// Returns the shortest time of a size, with the baseline's.
  double best(uint32_t size) const;

  static constexpr uint32_t Baseline = UINT32_MAX;
};

/// Sizes [begin, end), by index, that a candidate or the baseline serves.
struct Range {
  uint32_t candidate;
  uint32_t begin, end;
};

struct Choice {
  std::vector<Range> ranges; ///< adjacent, over all sizes; neighbours differ
  double loss = 0;           ///< the largest time / best time - 1 over all sizes
};

/// Chooses at most `programs` ranges of candidates. If a choice has a loss of at most `within`, returns one with the
/// fewest ranges of candidates, and of these one with the smallest geometric mean of time / best time. Otherwise
/// returns a choice with the smallest loss, then with this smallest mean, then with the fewest ranges. Exact. Returns
/// no ranges and an infinite loss if no choice serves all sizes. O(sizes * candidates * programs).
Choice choose(const TimeTable &table, uint32_t programs, double within);

} // namespace gc3::tune
