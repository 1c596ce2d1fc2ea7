// SPDX-License-Identifier: Apache-2.0
// Occupancy limits of GPUs. From 2.30 on, NCCL lets ranks share a GPU. A kernel's thread blocks stay resident until the
// kernel ends, and a rank can be several calls ahead of other ranks. So at any time, each rank can run any program, and
// the blocks of all ranks on a GPU must fit at once. Otherwise a rank could wait for a block that never becomes
// resident.
#pragma once

#include "comm/RankInfo.h"

#include <vector>

namespace gc3::comm {

class OccupancyBudget {
public:
  /// `infos` must outlive this object.
  explicit OccupancyBudget(std::span<const RankInfo> infos);

  /// Adds a program and returns an empty string. If the program's blocks do not fit together with the blocks of the
  /// added programs, returns the reason and does not add the program.
  std::string add(const core::Program &program, kernel::Protocol protocol, bool overNetwork);

  /// Returns the largest number of thread blocks that the other ranks on the GPU of rank `r` can have at once.
  uint32_t blocksOfOthers(uint32_t r) const { return blocksOfGpu[gpus[r]] - demands[r].mostBlocks; }

private:
  /// Number of kinds of kernels: one kind for each protocol, and one that uses the network.
  static constexpr size_t kinds = kernel::protocolCount + 1;
  struct Demand {
    std::array<uint32_t, kinds> byKind{}; ///< the largest number of blocks of an added program
    uint32_t mostBlocks = 0;              ///< the maximum of `byKind`
  };
  uint32_t blockLimit(uint32_t r, size_t kind) const;
  std::string describeExcess() const;

  const std::span<const RankInfo> infos;
  std::vector<uint32_t> gpus;        ///< by rank: the first rank on the same GPU
  std::vector<Demand> demands;       ///< by rank, for the added programs
  std::vector<uint32_t> blocksOfGpu; ///< by the first rank on a GPU: sum of `mostBlocks` of the GPU's ranks
};

} // namespace gc3::comm
