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
bool Rounds::improve(const std::function<bool()> &stops) {
  uint64_t least = deficit(current);
  uint32_t from = 0, to = 0, moved = 0;
  std::vector<uint64_t> limits;
  for (const Cut &cut : cuts)
    limits.push_back(cut.limit(current));
  for (uint32_t i = 0; i < steps && !(stops && stops()); ++i)
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

/// Returns true if the cuts may be met with `left` rounds for `step` and the steps after it, at least 1 each. `limits`
/// has what the cuts carry in the steps before.
bool Rounds::canMeetCuts(uint32_t step, uint32_t left, const std::vector<uint64_t> &limits) const {
  const uint32_t after = steps - step; // this step and the steps after it
  for (size_t k = 0; k < cuts.size(); ++k) {
    uint64_t most = 0, sum = limits[k];
    for (uint32_t s = step; s < steps; ++s)
      most = std::max(most, cuts[k].perRound[s]), sum += cuts[k].perRound[s];
    if (sum + most * (left - after) < chunks)
      return false;
  }
  return true;
}

/// Tries all rounds that the cuts do not exclude, up to a limit. Stores rounds that meet the cuts in `current`.
Rounds::Verdict Rounds::tryAll(const std::function<bool()> &stops) {
  constexpr uint32_t mostNodes = 20'000;
  std::vector<uint32_t> chosen(steps, 0); // 0: none yet
  std::vector<uint64_t> limits;
  for (const Cut &cut : cuts)
    limits.push_back(cut.fixed);
  uint32_t step = 0, left = total;
  const auto choose = [&](uint32_t rounds) { // for `step`
    for (size_t k = 0; k < cuts.size(); ++k)
      limits[k] += cuts[k].perRound[step] * rounds - cuts[k].perRound[step] * chosen[step];
    left -= rounds - chosen[step];
    chosen[step] = rounds;
  };
  for (uint32_t node = 0; node < mostNodes && !(stops && stops()); ++node) {
    if (canMeetCuts(step, left, limits)) {
      if (step == steps) {
        current = std::move(chosen);
        return Verdict::Found;
      }
      choose(step + 1 == steps ? left : 1);
      ++step;
      continue;
    }
    // Goes back to the last step that can have another round. Each later step needs one.
    while (step != 0 && left <= steps - step) {
      --step;
      choose(0);
    }
    if (step == 0)
      return Verdict::Impossible;
    --step;
    choose(chosen[step] + 1);
    ++step;
  }
  return Verdict::Unknown;
}

std::optional<std::vector<uint32_t>> Rounds::find(const std::function<bool()> &stops) {
  while (deficit(current) != 0 && improve(stops)) {
  }
  if (deficit(current) == 0)
    return current;
  const Verdict verdict = tryAll(stops);
  isImpossible = verdict == Verdict::Impossible;
  return verdict == Verdict::Found ? std::optional(current) : std::nullopt;
}

} // namespace gc3::flow
