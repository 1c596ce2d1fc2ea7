// SPDX-License-Identifier: Apache-2.0
// What of a program lies on one GPU, for the ranks that one launch runs there: all of them on loopback, one behind
// NCCL. Connections are not part of it (ConnectionPool.h): it is told where their ends are.
#pragma once

#include "plan/ConnectionPool.h"

#include <vector>

namespace gc3::plan {

/// A piece of device memory: first what the kernel only reads, then counters and reports, which are 0 at first.
class ProgramImage {
public:
  /// The program has to stay. `slots`: of each connection.
  ProgramImage(const core::Program &program, core::RankRange ranks, uint32_t slots);

  size_t bytes() const { return total; }                    ///< of the whole piece, whose address is a multiple of 128
  size_t constantBytes() const { return constant; }         ///< at its beginning
  uint32_t blocks() const { return endBlock - firstBlock; } ///< of the grid
  core::RankRange ranks() const { return range; }

  /// The bytes that the kernel only reads, for a piece at `base`. Fills in the call's ranks, seats and
  /// scope of peers.
  std::vector<std::byte> constants(std::byte *base, const ConnectionEnds &ends, kernel::KernelArgs &call) const;
  /// The reports of all blocks of the grid, for a piece at `base`.
  const kernel::Report *reports(const std::byte *base) const;

private:
  /// Offsets of arrays.
  struct Offsets {
    size_t ranks, seats, steps, waits, blocks, sends, receives, networkSends, networkReceives; // constant
    size_t progress, tiles, reports;                                                           // state
  };
  template <typename T>
  size_t reserve(size_t count);
  bool holds(uint32_t threadBlock) const { return threadBlock >= firstBlock && threadBlock < endBlock; }
  void fillConnections(std::byte *host, const ConnectionEnds &ends) const;
  void fillRank(uint32_t r, std::byte *host, std::byte *base, const void *network, uint32_t &firstWait) const;

  const core::Program &program;
  const core::RankRange range;
  const uint32_t slots;
  const uint32_t firstBlock, endBlock;   ///< of the program's thread blocks
  std::vector<uint32_t> sends, receives; ///< connections with an end here
  Offsets offsets{};
  size_t constant = 0, total = 0;
};

} // namespace gc3::plan
