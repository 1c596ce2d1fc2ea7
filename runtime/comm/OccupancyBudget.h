// SPDX-License-Identifier: Apache-2.0
// Occupancy limits of GPUs that ranks share, which NCCL allows from 2.30 on. A kernel keeps its thread blocks until it
// ends, and a rank can be several calls ahead of other ranks. So each rank can run any program, and the blocks of all
// ranks must fit at once. Otherwise a rank can wait for a block that is not resident.
#pragma once

#include "comm/RankInfo.h"

#include <vector>

namespace gc3::comm {

class OccupancyBudget {
public:
  /// `infos` must outlive this object.
  explicit OccupancyBudget(std::span<const RankInfo> infos);

  /// Adds a program and returns an empty string, or returns why its blocks do not fit together with the earlier
  /// programs.
  std::string add(const core::Program &program, kernel::Protocol protocol, bool overNetwork);

  /// Returns the most thread blocks that other ranks on the GPU of rank `r` can have.
  uint32_t blocksOfOthers(uint32_t r) const { return blocksOfGpu[gpus[r]] - demands[r].mostBlocks; }

private:
  static constexpr size_t kinds =
      kernel::protocolCount + 1; ///< kinds of kernels: one for each protocol, and one over the network
  struct Demand {
    std::array<uint32_t, kinds> byKind{}; ///< the most blocks of a program
    uint32_t mostBlocks = 0;              ///< the maximum of all kinds
  };
  uint32_t blockLimit(uint32_t r, size_t kind) const;
  std::string describeExcess() const;

  const std::span<const RankInfo> infos;
  std::vector<uint32_t> gpus;        ///< by rank: the first rank on the same GPU
  std::vector<Demand> demands;       ///< by rank, for the added programs
  std::vector<uint32_t> blocksOfGpu; ///< by the GPU's first rank: the most blocks of all its ranks
};

} // namespace gc3::comm
