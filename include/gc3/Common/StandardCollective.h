// SPDX-License-Identifier: Apache-2.0
// The collectives of std/collectives.gc3 that the C API calls by name. Compiler and runtime share this table.
#pragma once

#include <cstdint>
#include <string_view>

namespace gc3::common {

/// Number of blocks in a buffer, and the ranks that have the buffer: all ranks, or only the root (`...OnRoot`).
enum class Blocks : uint8_t { One, PerRank, OneOnRoot, PerRankOnRoot };

constexpr bool isWide(Blocks blocks) {
  return blocks == Blocks::PerRank || blocks == Blocks::PerRankOnRoot;
}
constexpr bool isOnRoot(Blocks blocks) {
  return blocks == Blocks::OneOnRoot || blocks == Blocks::PerRankOnRoot;
}

struct StandardCollective {
  const char *name;
  Blocks input;
  Blocks output;
  bool reduces; ///< true: each output block is a sum over all ranks; false: each output block is a block of one rank's
                ///< input

  constexpr bool hasRoot() const { return isOnRoot(input) || isOnRoot(output); }
  /// Returns true if the larger buffer has a block per rank.
  constexpr bool isBlockwise() const { return isWide(input) || isWide(output); }
  /// Returns true if one buffer has a block per rank and the other has a single block. In place, the small buffer is
  /// part of the large one.
  constexpr bool hasParts() const { return isWide(input) != isWide(output); }
  /// Returns the distance, in elements, from the start of the send buffer to the start of the receive buffer in an
  /// in-place call of `rank`. The distance is negative if the send buffer is part of the receive buffer. `count` is the
  /// number of elements in a block.
  constexpr int64_t inPlaceOffset(uint32_t rank, uint64_t count) const {
    const auto part = static_cast<int64_t>(rank * count);
    if (!hasParts())
      return 0;
    return isWide(input) ? part : -part;
  }
};

inline constexpr StandardCollective standardCollectives[] = {
    {"allreduce", Blocks::One, Blocks::One, true},          {"allgather", Blocks::One, Blocks::PerRank, false},
    {"reduce_scatter", Blocks::PerRank, Blocks::One, true}, {"alltoall", Blocks::PerRank, Blocks::PerRank, false},
    {"broadcast", Blocks::OneOnRoot, Blocks::One, false},   {"reduce", Blocks::One, Blocks::OneOnRoot, true},
    {"gather", Blocks::One, Blocks::PerRankOnRoot, false},  {"scatter", Blocks::PerRankOnRoot, Blocks::One, false},
};

/// Returns the standard collective of that name, or null.
constexpr const StandardCollective *findStandard(std::string_view name) {
  for (const StandardCollective &standard : standardCollectives)
    if (name == standard.name)
      return &standard;
  return nullptr;
}

} // namespace gc3::common
