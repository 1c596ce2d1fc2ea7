// SPDX-License-Identifier: Apache-2.0
// Moves rounds between steps while this reduces the deficit of the cuts. If that gets stuck, tries all distributions
// that the cuts do not exclude, up to a limit.
#include "Rounds.h"
#include <algorithm>

namespace gc3::flow {

std::vector<uint32_t> Rounds::growing(uint32_t growth) const {
  std::vector<uint64_t> weights(1, 0); // sums of the weights of the steps before
  for (uint32_t step = 0; step < steps; ++step)
    weights.push_back(weights.back() + (growth == 0 ? 1 : growth == 1 ? step + 1 : uint64_t{step + 1} * (step + 1)));
  std::vector<uint32_t> result;
  const uint64_t spare = total - steps; // each step has a round of its own
  for (uint32_t step = 0; step < steps; ++step)
    result.push_back(
        static_cast<uint32_t>(1 + spare * weights[step + 1] / weights.back() - spare * weights[step] / weights.back()));
  return result;
}

/// Returns the chunks that the cuts lack, summed over the cuts.
uint64_t Rounds::deficit(const std::vector<uint32_t> &rounds) const {
  uint64_t sum = 0;
  for (const Cut &cut : cuts)
    sum += chunks - std::min(chunks, cut.limit(rounds));
  return sum;
}

/// Moves the rounds that reduce the deficit most from one step to another. Returns false if no move reduces it.
bool Rounds::improve() {
  uint64_t least = deficit(current);
  uint32_t from = 0, to = 0, moved = 0;
  std::vector<uint64_t> limits;
  for (const Cut &cut : cuts)
    limits.push_back(cut.limit(current));
  for (uint32_t i = 0; i < steps; ++i)
    for (uint32_t amount = current[i] - 1; amount > 0; amount /= 2)
      for (uint32_t j = 0; j < steps; ++j) {
        uint64_t sum = 0;
        for (size_t k = 0; k < cuts.size() && sum < least; ++k) {
          const uint64_t limit = limits[k] - cuts[k].perRound[i] * amount + cuts[k].perRound[j] * amount;
          sum += chunks - std::min(chunks, limit);
        }
        if (sum < least)
          least = sum, from = i, to = j, moved = amount;
      }
  current[from] -= moved, current[to] += moved;
  return moved != 0;
}

/// Chooses the rounds of `step` and of the steps after it, `left` in all. `limits` has what the cuts carry in the steps
/// before.
bool Rounds::complete(uint32_t step, uint32_t left, std::vector<uint64_t> &limits) {
  if (nodesLeft == 0)
    return false;
  --nodesLeft;
  const uint32_t after = steps - step; // this step and the steps after it
  for (size_t k = 0; k < cuts.size(); ++k) {
    uint64_t most = 0, sum = limits[k];
    for (uint32_t s = step; s < steps; ++s)
      most = std::max(most, cuts[k].perRound[s]), sum += cuts[k].perRound[s];
    if (sum + most * (left - after) < chunks)
      return false;
  }
  if (after == 0)
    return true;
  const uint32_t first = after == 1 ? left : 1, last = left - (after - 1);
  for (uint32_t rounds = first; rounds <= last; ++rounds) {
    chosen[step] = rounds;
    for (size_t k = 0; k < cuts.size(); ++k)
      limits[k] += cuts[k].perRound[step] * rounds;
    const bool found = complete(step + 1, left - rounds, limits);
    for (size_t k = 0; k < cuts.size(); ++k)
      limits[k] -= cuts[k].perRound[step] * rounds;
    if (found)
      return true;
  }
  return false;
}

std::optional<std::vector<uint32_t>> Rounds::find() {
  constexpr uint64_t mostNodes = 20'000;
  while (deficit(current) != 0 && improve()) {
  }
  if (deficit(current) == 0)
    return current;
  std::vector<uint64_t> limits;
  for (const Cut &cut : cuts)
    limits.push_back(cut.fixed);
  chosen.assign(steps, 1);
  nodesLeft = mostNodes;
  if (complete(0, total, limits)) {
    current = chosen;
    return current;
  }
  isImpossible = nodesLeft != 0;
  return {};
}

} // namespace gc3::flow
