// SPDX-License-Identifier: Apache-2.0
// Collects the values of a postcondition and the outputs that must hold them.
#include "gc3/Algorithm/Demand.h"
#include "gc3/Support/StopCheck.h"
#include <algorithm>

namespace gc3::algorithm {

static void addSources(Demand &demand, const ir::Postcondition &post, uint32_t value) {
  for (uint32_t i = post.valueBegin[value]; i < post.valueBegin[value + 1]; ++i) {
    const ir::Run &run = post.runs[i];
    for (int64_t k = 0; k < run.length; ++k)
      demand.sources.push_back({static_cast<uint32_t>(run.rank + k * run.rankStride),
                                static_cast<uint32_t>(run.index + k * run.indexStride)});
  }
  std::sort(demand.sources.begin() + demand.sourceBegin.back(), demand.sources.end(),
            [](const BufferChunk &a, const BufferChunk &b) { return a.rank < b.rank; });
  demand.sourceBegin.push_back(static_cast<uint32_t>(demand.sources.size()));
}

/// Calls `visit(rank, index, chunk)` for each output chunk that must hold a value.
template <typename Visit>
static void forEachTarget(const ir::Collective &collective, StopCheck &stop, Visit visit) {
  for (uint32_t rank = 0; rank < collective.ranks && !stop.addWork(collective.size(rank, ir::OutputBuffer)); ++rank)
    for (uint32_t index = 0; index < collective.size(rank, ir::OutputBuffer); ++index)
      if (uint32_t wanted = collective.post.wanted(rank, index); wanted != ir::Postcondition::Anything)
        visit(rank, index, wanted - 1);
}

bool isWantedEverywhere(const Demand &demand, uint32_t chunk) {
  uint32_t ranks = 0, next = 0; // targets are in the order of their ranks
  for (const BufferChunk &target : demand.targetsOf(chunk))
    if (target.rank >= next)
      ++ranks, next = target.rank + 1;
  return ranks == demand.ranks;
}

std::optional<Demand> demandOf(const ir::Collective &collective, std::string &error,
                               const std::function<bool()> &stops) {
  StopCheck stop(stops);
  Demand demand;
  demand.ranks = collective.ranks;
  const uint32_t chunks = collective.post.valueCount();
  for (uint32_t value = 0; value < chunks && !stop.addWork(4); ++value)
    addSources(demand, collective.post, value);
  if (stop.addWork(0))
    return {};
  for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    for (uint32_t i = demand.sourceBegin[chunk] + 1; i < demand.sourceBegin[chunk + 1]; ++i)
      if (demand.sources[i - 1].rank == demand.sources[i].rank) {
        error = "rank " + std::to_string(demand.sources[i].rank) + " contributes more than once to " +
                ir::describeValue(collective.post, chunk);
        return {};
      }
  demand.targetBegin.assign(chunks + 1, 0);
  forEachTarget(collective, stop, [&](uint32_t, uint32_t, uint32_t chunk) { ++demand.targetBegin[chunk + 1]; });
  for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    demand.targetBegin[chunk + 1] += demand.targetBegin[chunk];
  demand.targets.resize(demand.targetBegin.back());
  std::vector<uint32_t> next(demand.targetBegin.begin(), demand.targetBegin.end() - 1);
  forEachTarget(collective, stop, [&](uint32_t rank, uint32_t index, uint32_t chunk) {
    demand.targets[next[chunk]++] = {rank, index};
  });
  if (stop.addWork(0))
    return {};
  return demand;
}

} // namespace gc3::algorithm
