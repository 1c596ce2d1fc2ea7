// SPDX-License-Identifier: Apache-2.0
// Formats counts of things for messages.
#pragma once

#include <string>

namespace gc3 {

/// Returns "1 rank" or "3 ranks", for any integer type.
template <typename Integer>
std::string quantity(Integer count, const char *thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

} // namespace gc3
