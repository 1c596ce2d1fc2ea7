// SPDX-License-Identifier: Apache-2.0
// Facts about the instructions that use the result of another one, from which the passes on unfused instructions decide
// whether they can leave an instruction out.
#pragma once

#include "Unfused.h"
#include <algorithm>

namespace gc3::lower {

struct Users {
  std::vector<uint32_t> first;      ///< by number: the first number with an edge to it, or None
  std::vector<uint8_t> dataReaders; ///< by number: the number of true edges to it, at most 2

  explicit Users(const Unfused &unfused) : first(unfused.size(), ir::None), dataReaders(unfused.size()) {
    for (uint32_t number = 0; number != unfused.size(); ++number)
      unfused.eachDependency(number, [&](uint32_t on, bool isFalse) {
        first[on] = std::min(first[on], number);
        dataReaders[on] = static_cast<uint8_t>(std::min(dataReaders[on] + int(!isFalse), 2));
      });
  }
};

/// Returns true if the instruction overwrites slots from which a message was sent. The scheduler can split a fused send
/// again. Then only instructions that write these slots are ordered after the send.
inline bool overwritesSent(const Unfused &unfused, uint32_t number) {
  bool overwrites = false;
  unfused.eachDependency(number, [&](uint32_t on, bool isFalse) { overwrites |= isFalse && unfused.isSend(on); });
  return overwrites;
}

} // namespace gc3::lower
