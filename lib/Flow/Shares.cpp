// SPDX-License-Identifier: Apache-2.0
#include "Shares.h"
#include <algorithm>
#include <numeric>

namespace gc3::flow {

Shares::Shares(const StepGraph &graph, const std::vector<uint32_t> &rounds)
    : rounds(rounds), bandwidth(graph.boundOfShare.size()), sharesOf(graph.dividedBandwidth.size()),
      chunks(rounds.size(), std::vector<uint32_t>(graph.boundOfShare.size(), 0)) {
  for (const StepArc &arc : graph.arcs)
    if (arc.share != None)
      bandwidth[arc.share] = arc.bandwidth;
  for (uint32_t share = 0; share < graph.boundOfShare.size(); ++share)
    sharesOf[graph.boundOfShare[share]].push_back(share);
  for (uint32_t bound = 0; bound < sharesOf.size(); ++bound) {
    const std::vector<uint32_t> &shares = sharesOf[bound];
    size_t next = 0; // the share that gets the next chunk
    for (uint32_t step = 0; step < rounds.size(); ++step) {
      const uint64_t most = uint64_t{graph.dividedBandwidth[bound]} * rounds[step];
      for (uint32_t share : shares)
        chunks[step][share] = static_cast<uint32_t>(most / shares.size());
      for (uint64_t rest = most % shares.size(); rest > 0; --rest, next = (next + 1) % shares.size())
        ++chunks[step][shares[next]];
    }
  }
}

bool Shares::shift(const std::vector<std::vector<Use>> &uses, uint64_t lacking) {
  constexpr size_t stride = 7919; // a prime, so that the turns spread over the steps
  const size_t all = rounds.size() * sharesOf.size();
  uint64_t moved = 0;
  for (bool onlyUnused : {true, false})
    for (size_t i = 0; i < all; ++i) {
      const size_t at = (turn + i) % all;
      const auto step = static_cast<uint32_t>(at / sharesOf.size()),
                 bound = static_cast<uint32_t>(at % sharesOf.size());
      const uint64_t most = onlyUnused ? UINT64_MAX : lacking - std::min(lacking, moved);
      moved += move(step, bound, uses[step], onlyUnused, most);
    }
  turn += stride;
  return moved != 0;
}

/// Moves chunk by chunk, so that shares of equal capacity stay nearly equal.
uint64_t Shares::move(uint32_t step, uint32_t bound, const std::vector<Use> &uses, bool onlyUnused, uint64_t most) {
  std::vector<uint32_t> &has = chunks[step];
  uint64_t moved = 0;
  for (; moved < most; ++moved) {
    uint32_t giver = None, taker = None;
    for (uint32_t share : sharesOf[bound]) {
      if (uses[share].isCrossing && has[share] < bandwidth[share] * rounds[step] &&
          (taker == None || has[share] < has[taker]))
        taker = share;
      if (!uses[share].isCrossing && has[share] > (onlyUnused ? uses[share].chunks : 0) &&
          (giver == None || has[share] > has[giver]))
        giver = share;
    }
    if (giver == None || taker == None)
      return moved;
    --has[giver], ++has[taker];
  }
  return moved;
}

} // namespace gc3::flow
