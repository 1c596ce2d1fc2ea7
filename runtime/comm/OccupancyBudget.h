// SPDX-License-Identifier: Apache-2.0
// Room for thread blocks on GPUs that ranks share, which NCCL allows from 2.30 on. A kernel keeps its blocks until it
// ends, and a rank can be calls ahead of its neighbours. So each rank can be in any program, and the blocks of all
// ranks must fit at the same time, or a rank waits for a block that has no room to run.
#pragma once

#include "comm/RankInfo.h"

#include <vector>

namespace gc3::comm {

class OccupancyBudget {
public:
  /// `infos` must outlive this object.
  explicit OccupancyBudget(std::span<const RankInfo> infos);

  /// Adds a program, or returns why its blocks do not fit next to those of the programs added before.
  std::string add(const core::Program &program, kernel::Protocol protocol, bool overNetwork);

  /// The most thread blocks that other ranks on the GPU of rank `r` can have.
  uint32_t blocksOfOthers(uint32_t r) const { return blocksOfGpu[gpus[r]] - demands[r].mostBlocks; }

private:
  static constexpr size_t kinds =
      kernel::protocolCount + 1; ///< of kernels: one for each protocol, and one over the network
  struct Demand {
    std::array<uint32_t, kinds> byKind{}; ///< the most blocks that a program has
    uint32_t mostBlocks = 0;              ///< of all kinds
  };
  uint32_t blockLimit(uint32_t r, size_t kind) const;
  std::string describeExcess() const;

  const std::span<const RankInfo> infos;
  std::vector<uint32_t> gpus;        ///< by rank: the first rank on the same GPU
  std::vector<Demand> demands;       ///< of the programs added
  std::vector<uint32_t> blocksOfGpu; ///< by first rank: the most blocks of all its ranks
};

} // namespace gc3::comm
