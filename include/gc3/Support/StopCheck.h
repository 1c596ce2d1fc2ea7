// SPDX-License-Identifier: Apache-2.0
// Checks from time to time whether long work must stop, because of a deadline or an interruption.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace gc3 {

class StopCheck {
public:
  /// Creates a check that calls `stops`. An empty function never stops the work.
  explicit StopCheck(std::function<bool()> stops) : stops(std::move(stops)) {}

  /// Counts `units` small units of work, of some nanoseconds each. Returns true once the work must stop, and on every
  /// later call.
  bool addWork(uint64_t units) {
    constexpr uint64_t unitsBetweenCalls = 1 << 20;
    if ((done += units) < unitsBetweenCalls || isOver)
      return isOver;
    done = 0;
    return isOver = stops && stops();
  }

private:
  std::function<bool()> stops;
  uint64_t done = 0;
  bool isOver = false;
};

} // namespace gc3
