// SPDX-License-Identifier: Apache-2.0
// Rank 0 collects the bytes of all ranks for one gather after the other. It knows no connections.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gc3::job {

class Center {
public:
  using Gathered = std::vector<std::vector<uint8_t>>;

  explicit Center(uint32_t ranks) : current(ranks), has(ranks) {}

  /// Number of the gather that has not ended.
  uint64_t round() const { return number; }
  /// Adds the bytes of a rank. Returns false if the rank must not send them now: a rank has the result of a gather
  /// before it sends the bytes of the next one.
  bool add(uint32_t rank, uint64_t round, std::vector<uint8_t> bytes);
  /// Returns the bytes of all ranks, and begins the next gather, if the bytes of all ranks have come.
  std::optional<Gathered> takeComplete();
  bool isMissing(uint32_t rank) const { return !has[rank]; }

private:
  uint64_t number = 0;
  Gathered current; ///< by rank
  std::vector<bool> has;
  uint32_t count = 0; ///< of ranks
};

} // namespace gc3::job
