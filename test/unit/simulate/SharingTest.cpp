// SPDX-License-Identifier: Apache-2.0
// Compares the rates of Sharing with the definition of max-min fairness, on random transfers that come and go. Tests
// the order of EventQueue.
#include "Sharing.h"
#include "EventQueue.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace gc3::simulate;

namespace {

struct Flow {
  std::vector<ResourceUse> uses;
  double limit = 0, begin = 0, bytes = 0;
};

/// Raises all rates in small exact steps: the next resource to be full, or the next limit, over all transfers.
std::map<uint32_t, double> fairRates(const std::vector<double> &capacities, const std::map<uint32_t, Flow> &flows) {
  std::map<uint32_t, double> rates;
  std::vector<double> free = capacities;
  double level = 0;
  while (rates.size() < flows.size()) {
    std::vector<double> weights(capacities.size());
    double step = INFINITY;
    for (const auto &[actor, flow] : flows)
      if (!rates.contains(actor)) {
        step = std::min(step, flow.limit - level);
        for (const ResourceUse &use : flow.uses)
          weights[use.resource] += use.weight;
      }
    for (size_t i = 0; i < free.size(); ++i)
      if (weights[i] > 0)
        step = std::min(step, free[i] / weights[i]);
    level += step;
    for (size_t i = 0; i < free.size(); ++i)
      free[i] -= weights[i] * step;
    for (const auto &[actor, flow] : flows) {
      const auto isFull = [&](const ResourceUse &use) { return free[use.resource] <= 1e-9 * capacities[use.resource]; };
      if (!rates.contains(actor) &&
          (flow.limit <= level * (1 + 1e-12) || std::any_of(flow.uses.begin(), flow.uses.end(), isFull)))
        rates[actor] = level;
    }
  }
  return rates;
}

} // namespace

/// After each change, the end that Sharing reports for each transfer follows from the fair rates.
TEST(Sharing, IsMaxMinFair) {
  uint32_t state = 7, checked = 0;
  const auto below = [&](uint32_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  for (int round = 0; round < 100; ++round) {
    const std::vector<double> capacities = {10.0 + below(10), 5.0 + below(20), 30, 8};
    constexpr uint32_t actors = 9;
    Sharing sharing(capacities, actors, capacities.size());
    std::map<uint32_t, Flow> flows; // bytes: what remained at `begin`
    std::map<uint32_t, double> ends, rates;
    for (int change = 0; change < 20; ++change) {
      const double now = change;
      for (auto &[actor, flow] : flows)
        flow.bytes -= rates[actor] * (now - flow.begin), flow.begin = now;
      const uint32_t actor = below(actors);
      if (flows.contains(actor)) {
        sharing.remove(actor, now);
        flows.erase(actor), ends.erase(actor);
      } else {
        Flow &flow = flows[actor];
        for (uint32_t resource = 0; resource < capacities.size(); ++resource)
          if (below(2) || (resource == 3 && flow.uses.empty()))
            flow.uses.push_back({resource, below(3) == 0 ? 2.0 : 1.0});
        flow.limit = below(2) ? 3.0 + below(9) : INFINITY, flow.begin = now, flow.bytes = 1e6;
        sharing.add(actor, flow.uses, flow.limit, flow.bytes, now);
      }
      std::vector<std::pair<uint32_t, double>> changed;
      sharing.settle(now, changed);
      for (const auto &[which, end] : changed)
        ends[which] = end;
      rates = fairRates(capacities, flows);
      ASSERT_EQ(ends.size(), flows.size());
      for (const auto &[which, flow] : flows) {
        ASSERT_NEAR(ends[which], now + flow.bytes / rates[which], 1e-6 * ends[which]) << round << " " << change;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 5000u);
}

TEST(Sharing, NamesTheLimiter) {
  Sharing sharing({10, 100}, 2, 2);
  const std::vector<ResourceUse> slow = {{0, 1}, {1, 1}}, fast = {{1, 1}};
  std::vector<std::pair<uint32_t, double>> ends;
  sharing.add(0, slow, INFINITY, 100, 0);
  sharing.add(1, fast, 20, 100, 0);
  sharing.settle(0, ends);
  EXPECT_EQ(ends, (std::vector<std::pair<uint32_t, double>>{{0, 10}, {1, 5}}));
  sharing.remove(1, 5);
  sharing.remove(0, 10);
  EXPECT_EQ(sharing.limiter(0), 0u);
  EXPECT_EQ(sharing.limiter(1), Sharing::None);
  EXPECT_EQ(sharing.bytesMoved(), (std::vector<double>{100, 200}));
}

TEST(EventQueue, IsInOrderOfTimeAndActor) {
  uint32_t state = 3;
  const auto below = [&](uint32_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  EventQueue queue(50);
  std::map<uint32_t, double> expected;
  for (int i = 0; i < 3000; ++i) {
    if (below(3) == 0 && !expected.empty()) {
      const auto first = std::min_element(expected.begin(), expected.end(), [](const auto &a, const auto &b) {
        return std::pair(a.second, a.first) < std::pair(b.second, b.first);
      });
      ASSERT_EQ(queue.actor(), first->first);
      ASSERT_EQ(queue.time(), first->second);
      queue.pop();
      expected.erase(first);
    } else {
      const uint32_t actor = below(50);
      queue.schedule(actor, expected[actor] = below(100));
    }
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}
