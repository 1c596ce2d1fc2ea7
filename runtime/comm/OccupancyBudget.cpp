// SPDX-License-Identifier: Apache-2.0
// Blocks of different kernels can be resident on one GPU together. They certainly fit if the GPU can hold the same
// number of blocks of the largest of these kernels.
#include "comm/OccupancyBudget.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gc3::comm {

OccupancyBudget::OccupancyBudget(std::span<const RankInfo> infos)
    : infos(infos), demands(infos.size()), blocksOfGpu(infos.size()) {
  std::map<std::pair<uint64_t, std::string_view>, uint32_t> known;
  for (uint32_t r = 0; r < infos.size(); ++r)
    gpus.push_back(infos[r].host == 0 ? r : known.try_emplace({infos[r].host, infos[r].busId}, r).first->second);
}

uint32_t OccupancyBudget::blockLimit(uint32_t r, size_t kind) const {
  return kind < kernel::protocolCount ? infos[r].blockLimits[kind] : infos[r].networkBlockLimit;
}

std::string OccupancyBudget::describeExcess() const {
  for (uint32_t r = 0; r < demands.size(); ++r)
    for (size_t kind = 0; kind < kinds; ++kind) {
      const uint32_t blocks = demands[r].byKind[kind], all = blocks + blocksOfOthers(r);
      if (blocks == 0 || all <= blockLimit(r, kind))
        continue;
      const std::string rank = "rank " + std::to_string(r);
      const std::string subject =
          blocksOfOthers(r) == 0 ? rank + " has " : rank + " and other ranks on its GPU can have ";
      return subject + std::to_string(all) + " thread blocks" +
             (blocksOfOthers(r) == 0 ? "" : ", each in any program") + ", and its GPU can hold " +
             std::to_string(blockLimit(r, kind)) + " at once";
    }
  return {};
}

std::string OccupancyBudget::add(const core::Program &program, kernel::Protocol protocol, bool overNetwork) {
  const size_t kind = overNetwork ? kernel::protocolCount : static_cast<size_t>(protocol);
  const std::vector<Demand> demandsBefore = demands;
  const std::vector<uint32_t> blocksOfGpuBefore = blocksOfGpu;
  for (uint32_t r = 0; r < demands.size(); ++r) {
    const uint32_t blocks = program.firstThreadBlock(r + 1) - program.firstThreadBlock(r);
    demands[r].byKind[kind] = std::max(demands[r].byKind[kind], blocks);
    blocksOfGpu[gpus[r]] += std::max(demands[r].mostBlocks, blocks) - demands[r].mostBlocks;
    demands[r].mostBlocks = std::max(demands[r].mostBlocks, blocks);
  }
  std::string problem = describeExcess();
  if (!problem.empty())
    demands = demandsBefore, blocksOfGpu = blocksOfGpuBefore;
  return problem;
}

} // namespace gc3::comm
