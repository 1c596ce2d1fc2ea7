// SPDX-License-Identifier: Apache-2.0
// A binary relation of events, as rows of bits.
#pragma once

#include <bitset>
#include <cassert>
#include <cstddef>
#include <vector>

namespace gc3::memory {

class Relation {
public:
  static constexpr size_t mostEvents = 128;

  explicit Relation(size_t events) : rows(events) { assert(events <= mostEvents); }

  size_t size() const { return rows.size(); }
  bool holds(size_t from, size_t to) const { return rows[from][to]; }
  void add(size_t from, size_t to) { rows[from].set(to); }

  /// Makes the relation transitive (Warshall): O(n^2) operations on rows.
  void close() {
    for (size_t via = 0; via < size(); ++via)
      for (std::bitset<mostEvents> &row : rows)
        if (row[via])
          row |= rows[via];
  }
  /// Returns whether an event is related to itself.
  bool isReflexive() const {
    for (size_t event = 0; event < size(); ++event)
      if (rows[event][event])
        return true;
    return false;
  }

private:
  std::vector<std::bitset<mostEvents>> rows;
};

} // namespace gc3::memory
