// SPDX-License-Identifier: Apache-2.0
// The numbers of ranks in an error.
#pragma once

#include <cstddef>
#include <string>

namespace gc3::select {

/// Lists at most 16 ranks.
class RankList {
public:
  void add(size_t rank) {
    if (++count <= listed)
      text += (count == 1 ? " " : ", ") + std::to_string(rank);
  }
  size_t size() const { return count; }
  /// Returns a text such as "rank 3" or "ranks 0, 1".
  std::string str() const {
    const std::string more = count > listed ? " and " + std::to_string(count - listed) + " more" : "";
    return (count == 1 ? "rank" : "ranks") + text + more;
  }

private:
  static constexpr size_t listed = 16;
  size_t count = 0;
  std::string text;
};

} // namespace gc3::select
