// SPDX-License-Identifier: Apache-2.0
// Asks now and then whether long work should end: the time is up, or somebody interrupts it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace gc3 {

class StopCheck {
public:
  /// Empty: never.
  explicit StopCheck(std::function<bool()> stops) : stops(std::move(stops)) {}

  /// After so many small pieces of work, of some nanoseconds each. True from the first time on that it should end.
  bool after(uint64_t pieces) {
    constexpr uint64_t piecesBetween = 1 << 20;
    if ((done += pieces) < piecesBetween || isOver)
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
