// SPDX-License-Identifier: Apache-2.0
#include "tuner/Choices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace gc3::tuner {

namespace {

uint32_t placeOf(const Row &row) {
  return static_cast<uint32_t>(row.collective) * bucketCount + row.bucket;
}

bool isSameArm(const Arm &left, const Arm &right) {
  return std::tie(left.algorithm, left.protocol, left.channels) ==
         std::tie(right.algorithm, right.protocol, right.channels);
}

constexpr float mostTimesBest = 128;

} // namespace

Choices::Choices(const std::vector<Row> &rows, uint32_t ranks, uint32_t nodes) {
  std::vector<std::pair<uint32_t, Arm>> placed;
  for (const Row &row : rows)
    if (row.ranks == ranks && row.nodes == nodes)
      placed.emplace_back(placeOf(row), row.arm);
  std::stable_sort(placed.begin(), placed.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  size_t next = 0;
  for (uint32_t place = 0; place + 1 < begin.size(); ++place) {
    for (; next < placed.size() && placed[next].first == place; ++next) {
      const Arm &arm = placed[next].second;
      const auto same = std::find_if(all.begin() + begin[place], all.end(),
                                     [&](const Arm &earlier) { return isSameArm(earlier, arm); });
      if (same == all.end())
        all.push_back(arm);
      else
        same->time = arm.time;
    }
    std::stable_sort(all.begin() + begin[place], all.end(), [](const Arm &a, const Arm &b) { return a.time < b.time; });
    begin[place + 1] = count();
  }
}

std::span<const Arm> Choices::arms(int collective, uint64_t bytes) const {
  if (collective < 0 || collective >= static_cast<int>(collectiveCount))
    return {};
  const uint32_t place = static_cast<uint32_t>(collective) * bucketCount + bucketOf(bytes);
  return {all.data() + begin[place], begin[place + 1] - begin[place]};
}

const Arm *prefer(std::span<const Arm> arms, const CostTable &table) {
  const std::span<float> costs(table.costs, static_cast<size_t>(table.algorithms) * table.protocols);
  float best = std::numeric_limits<float>::infinity();
  for (const float cost : costs)
    if (cost >= 0)
      best = std::min(best, cost);
  const auto isUsable = [&](const Arm &arm) {
    const auto algorithm = static_cast<uint32_t>(arm.algorithm), protocol = static_cast<uint32_t>(arm.protocol);
    if (algorithm >= table.algorithms || protocol >= table.protocols)
      return false;
    const float cost = costs[algorithm * table.protocols + protocol];
    return cost >= 0 && cost <= mostTimesBest * best;
  };
  const auto chosen = std::find_if(arms.begin(), arms.end(), isUsable);
  if (chosen == arms.end())
    return nullptr;
  for (float &cost : costs)
    if (cost == best)
      cost = std::nextafter(best, std::numeric_limits<float>::infinity());
  costs[static_cast<uint32_t>(chosen->algorithm) * table.protocols + static_cast<uint32_t>(chosen->protocol)] = best;
  return &*chosen;
}

} // namespace gc3::tuner
