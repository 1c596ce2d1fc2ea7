// SPDX-License-Identifier: Apache-2.0
// Formats counts of things for messages.
#pragma once

#include <cstdint>
#include <string>

namespace gc3 {

/// Returns "1 rank" or "3 ranks", for any integer type.
template <typename Integer>
std::string quantity(Integer count, const char *thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// Returns "once", "twice" or "3 times". A count of 2^64 - 1 can be a sum that saturated, so it is a lower bound.
inline std::string timesText(uint64_t count) {
  if (count == 1 || count == 2)
    return count == 1 ? "once" : "twice";
  return (count == UINT64_MAX ? "at least " : "") + std::to_string(count) + " times";
}

} // namespace gc3
