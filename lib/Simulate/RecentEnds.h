// SPDX-License-Identifier: Apache-2.0
// When steps have ended, for thread blocks that wait for them. A thread block notices an end after a while. If the end
// is longer ago, its time does not matter any longer. So only recent ends are kept, in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gc3::simulate {

class RecentEnds {
public:
  /// Keeps the ends of the last `span` microseconds.
  RecentEnds(size_t steps, double span) : kept(span), lastOf(steps) {}

  /// Adds the end of a step in a tile. The tiles of a step follow each other, and no earlier call has a later `end`.
  void add(uint32_t step, uint64_t tile, double end) {
    for (; !entries.empty() && entries.front().end + kept <= end; ++first)
      entries.pop_front();
    entries.push_back({end, tile, lastOf[step]});
    lastOf[step] = first + entries.size() - 1;
  }

  /// Returns the end of a step in a tile, or 0 if it is at least `span` ago.
  double endOf(uint32_t step, uint64_t tile) const {
    for (uint64_t number = lastOf[step]; number >= first; number = entries[number - first].before)
      if (entries[number - first].tile == tile)
        return entries[number - first].end;
    return 0;
  }

private:
  struct Entry {
    double end;
    uint64_t tile;
    uint64_t before; ///< number of the step's entry for the tile before
  };

  const double kept;
  std::deque<Entry> entries; ///< entry number n is entries[n - first]
  uint64_t first = 1;
  std::vector<uint64_t> lastOf; ///< by step: number of its last entry; 0: none
};

} // namespace gc3::simulate
