// SPDX-License-Identifier: Apache-2.0
// An emulated switch. At each of its addresses, it accesses the memory of all ranks of a team.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace gc3::test {

class FakeSwitch {
public:
  /// Adds `bytes` addresses from `begin` on. `parts` has the addresses of the ranks' memory.
  static void add(const std::byte *begin, size_t bytes, std::vector<std::byte *> parts) {
    ranges.push_back({begin, bytes, std::move(parts)});
  }
  static void clear() { ranges.clear(); }

  /// Returns the addresses of `bytes` bytes in the memory of all ranks. Aborts if the switch has no such address.
  static std::vector<std::byte *> partsAt(const std::byte *at, size_t bytes) {
    for (const Range &range : ranges)
      if (at >= range.begin && at + bytes <= range.begin + range.bytes) {
        std::vector<std::byte *> parts = range.parts;
        for (std::byte *&part : parts)
          part += at - range.begin;
        return parts;
      }
    std::abort(); // a GPU would report an error
  }

private:
  struct Range {
    const std::byte *begin;
    size_t bytes;
    std::vector<std::byte *> parts;
  };
  static inline std::vector<Range> ranges;
};

} // namespace gc3::test
