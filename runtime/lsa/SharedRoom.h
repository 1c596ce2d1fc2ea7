// SPDX-License-Identifier: Apache-2.0
// Room for thread blocks on GPUs that ranks share, which NCCL allows from 2.30 on. A kernel holds its blocks until the
// end, and a rank may be calls ahead of its neighbours: each may be in any program, and all of their blocks have to be
// there, or one waits for what another has no room to send.
#pragma once

#include "lsa/Record.h"

#include <vector>

namespace gc3::lsa {

class SharedRoom {
public:
  /// The records have to stay.
  explicit SharedRoom(std::span<const Record> records);

  /// Takes the program in, or says why its blocks can't all be there beside those that were taken in before.
  std::string add(const core::Program &program, kernel::Protocol protocol, bool overNetwork);

  /// Thread blocks that the other ranks on the GPU of rank `r` have, at most.
  uint32_t beside(uint32_t r) const { return ofGpu[gpus[r]] - ranks[r].most; }

private:
  static constexpr size_t kinds = kernel::protocolCount + 1; ///< of kernels: those over the network come last
  struct OfRank {
    std::array<uint32_t, kinds> byKind{}; ///< the most blocks that a program has
    uint32_t most = 0;                    ///< of all kinds
  };
  uint32_t room(uint32_t r, size_t kind) const;
  std::string why() const;

  const std::span<const Record> records;
  std::vector<uint32_t> gpus;  ///< by rank: the first rank on the same GPU
  std::vector<OfRank> ranks;   ///< of the programs taken in
  std::vector<uint32_t> ofGpu; ///< by first rank: the most blocks of all its ranks
};

} // namespace gc3::lsa
