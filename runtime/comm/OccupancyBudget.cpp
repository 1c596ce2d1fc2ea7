// SPDX-License-Identifier: Apache-2.0
// Blocks of different kernels fit together if their number does not exceed what fits of the largest kernel alone.
#include "comm/OccupancyBudget.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gc3::comm {

OccupancyBudget::OccupancyBudget(std::span<const RankInfo> infos)
    : infos(infos), ranks(infos.size()), ofGpu(infos.size()) {
  std::map<std::pair<uint64_t, std::string_view>, uint32_t> known;
  for (uint32_t r = 0; r < infos.size(); ++r)
    gpus.push_back(infos[r].host == 0 ? r : known.try_emplace({infos[r].host, infos[r].busId}, r).first->second);
}

uint32_t OccupancyBudget::room(uint32_t r, size_t kind) const {
  return kind < kernel::protocolCount ? infos[r].room[kind] : infos[r].networkRoom;
}

std::string OccupancyBudget::why() const {
  for (uint32_t r = 0; r < ranks.size(); ++r)
    for (size_t kind = 0; kind < kinds; ++kind) {
      const uint32_t blocks = ranks[r].byKind[kind], all = blocks + beside(r);
      if (blocks == 0 || all <= room(r, kind))
        continue;
      const std::string rank = "rank " + std::to_string(r);
      const std::string who = beside(r) == 0 ? rank + " has " : rank + " and those on the same GPU may have ";
      return who + std::to_string(all) + " thread blocks" + (beside(r) == 0 ? "" : ", each in any program") +
             ", and its GPU can hold " + std::to_string(room(r, kind)) + " at once";
    }
  return {};
}

std::string OccupancyBudget::add(const core::Program &program, kernel::Protocol protocol, bool overNetwork) {
  const size_t kind = overNetwork ? kernel::protocolCount : static_cast<size_t>(protocol);
  const std::vector<Demand> ranksBefore = ranks;
  const std::vector<uint32_t> ofGpuBefore = ofGpu;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const uint32_t blocks = program.firstThreadBlock(r + 1) - program.firstThreadBlock(r);
    ranks[r].byKind[kind] = std::max(ranks[r].byKind[kind], blocks);
    ofGpu[gpus[r]] += std::max(ranks[r].most, blocks) - ranks[r].most;
    ranks[r].most = std::max(ranks[r].most, blocks);
  }
  std::string problem = why();
  if (!problem.empty())
    ranks = ranksBefore, ofGpu = ofGpuBefore;
  return problem;
}

} // namespace gc3::comm
