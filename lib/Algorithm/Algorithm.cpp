// SPDX-License-Identifier: Apache-2.0
// Derives algorithms from other algorithms.
#include "gc3/Algorithm/Algorithm.h"
#include <algorithm>
#include <numeric>

namespace gc3::algorithm {

uint32_t Algorithm::totalRounds() const {
  return std::accumulate(rounds.begin(), rounds.end(), 0u);
}

static Algorithm backwards(const Algorithm &algorithm, SendKind kind) {
  Algorithm result;
  for (uint32_t step = algorithm.steps(); step-- > 0;) {
    for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i)
      result.sends.push_back({algorithm.sends[i].chunk, algorithm.sends[i].link, kind});
    result.endStep(algorithm.rounds[step]);
  }
  return result;
}

Algorithm inverted(const Algorithm &algorithm) {
  return backwards(algorithm, SendKind::Reduce);
}

Algorithm reversed(const Algorithm &algorithm) {
  return backwards(algorithm, SendKind::Copy);
}

Algorithm sequence(const Algorithm &first, const Algorithm &second) {
  Algorithm result = first;
  for (uint32_t step = 0; step < second.steps(); ++step) {
    result.sends.insert(result.sends.end(), second.sends.begin() + second.stepBegin[step],
                        second.sends.begin() + second.stepBegin[step + 1]);
    result.endStep(second.rounds[step]);
  }
  return result;
}

std::vector<uint32_t> sendsByChunk(uint32_t chunks, const Algorithm &algorithm, std::vector<uint32_t> &begin) {
  begin.assign(chunks + 1, 0);
  for (const Send &send : algorithm.sends)
    ++begin[send.chunk + 1];
  for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    begin[chunk + 1] += begin[chunk];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1), order(algorithm.sends.size());
  for (uint32_t send = 0; send < algorithm.sends.size(); ++send)
    order[next[algorithm.sends[send].chunk]++] = send;
  return order;
}

Algorithm withoutIdleCopies(const topology::Topology &topology, const Demand &demand, const Algorithm &algorithm) {
  constexpr uint32_t None = UINT32_MAX;
  std::vector<uint32_t> begin;
  const std::vector<uint32_t> order = sendsByChunk(demand.chunks(), algorithm, begin);
  std::vector<uint32_t> arrival(demand.ranks, None); // by rank: the first send of the chunk to this rank
  std::vector<uint8_t> isWanted(demand.ranks, 0), keep(algorithm.sends.size(), 0);
  auto linkOf = [&](uint32_t send) -> const topology::Link & { return topology.links[algorithm.sends[send].link]; };
  for (uint32_t chunk = 0; chunk < demand.chunks(); ++chunk) {
    for (const BufferChunk &target : demand.targetsOf(chunk))
      isWanted[target.rank] = 1;
    for (uint32_t i = begin[chunk + 1]; i-- > begin[chunk];)
      arrival[linkOf(order[i]).to] = order[i];
    for (const BufferChunk &source : demand.sourcesOf(chunk))
      arrival[source.rank] = None; // the rank has the chunk from the start
    for (uint32_t i = begin[chunk + 1]; i-- > begin[chunk];) {
      const topology::Link &link = linkOf(order[i]);
      keep[order[i]] = arrival[link.to] == order[i] && isWanted[link.to];
      isWanted[link.from] |= keep[order[i]];
    }
    for (uint32_t i = begin[chunk]; i < begin[chunk + 1]; ++i) {
      const topology::Link &link = linkOf(order[i]);
      arrival[link.to] = None;
      isWanted[link.from] = isWanted[link.to] = 0;
    }
    for (const BufferChunk &target : demand.targetsOf(chunk))
      isWanted[target.rank] = 0;
  }
  Algorithm result;
  for (uint32_t step = 0; step < algorithm.steps(); ++step) {
    for (uint32_t i = algorithm.stepBegin[step]; i < algorithm.stepBegin[step + 1]; ++i)
      if (keep[i])
        result.sends.push_back(algorithm.sends[i]);
    result.endStep(algorithm.rounds[step]);
  }
  return result;
}

Algorithm withoutIdleRounds(const topology::Topology &topology, const Algorithm &algorithm) {
  const topology::BoundsOfLinks boundsOf = boundsOfLinks(topology);
  // number of sends in the current step
  std::vector<uint64_t> ofLink(topology.links.size(), 0), ofBound(topology.boundCount(), 0);
  Algorithm result;
  for (uint32_t step = 0; step < algorithm.steps(); ++step) {
    const auto first = algorithm.sends.begin() + algorithm.stepBegin[step],
               last = algorithm.sends.begin() + algorithm.stepBegin[step + 1];
    uint64_t rounds = 0;
    for (auto send = first; send != last; ++send) {
      const uint32_t link = send->link, bandwidth = topology.links[link].bandwidth;
      rounds = std::max(rounds, (++ofLink[link] + bandwidth - 1) / bandwidth);
      for (uint32_t i = boundsOf.begin[link]; i < boundsOf.begin[link + 1]; ++i) {
        const uint32_t bound = boundsOf.bounds[i], most = topology.boundBandwidth[bound];
        rounds = std::max(rounds, (++ofBound[bound] + most - 1) / most);
      }
    }
    for (auto send = first; send != last; ++send) {
      ofLink[send->link] = 0;
      for (uint32_t i = boundsOf.begin[send->link]; i < boundsOf.begin[send->link + 1]; ++i)
        ofBound[boundsOf.bounds[i]] = 0;
    }
    if (rounds == 0)
      continue;
    result.sends.insert(result.sends.end(), first, last);
    result.endStep(static_cast<uint32_t>(rounds));
  }
  return result;
}

} // namespace gc3::algorithm
