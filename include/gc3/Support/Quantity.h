// SPDX-License-Identifier: Apache-2.0
// Numbers of things, in messages.
#pragma once

#include <string>

namespace gc3 {

/// "1 rank", "3 ranks"; of any integer
template <typename Integer>
std::string quantity(Integer count, const char *thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

} // namespace gc3
