// SPDX-License-Identifier: Apache-2.0
// Times the selector of online selection: a choice, and the evaluation of a call's time (docs/online.md).
#include "select/Selector.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

using namespace gc3::select;

int main() {
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::duration<double, std::nano>;
  constexpr uint32_t buckets = 4;
  constexpr int calls = 400000;
  for (const uint32_t arms : {2u, 8u, 40u}) {
    std::mt19937 random;
    std::normal_distribution<float> noise(0, 0.05F);
    Arms table{buckets, arms, std::vector<float>(size_t(buckets) * arms), std::vector<uint32_t>(buckets)};
    for (float &each : table.predicted)
      each = 200 * std::exp(8 * noise(random)); // so long that each call is timed
    Budget budget(0.02);
    Selector selector(table, budget);
    Nanoseconds choosing{}, adding{}, nothing{};
    for (int i = 0; i < calls; ++i) {
      const uint32_t bucket = static_cast<uint32_t>(i) % buckets;
      const auto begin = Clock::now();
      const uint32_t arm = selector.choose(bucket).arm;
      const auto chosen = Clock::now();
      const float time = table.predicted[bucket * arms + arm] * std::exp(noise(random));
      const auto measured = Clock::now();
      selector.add(bucket, arm, time);
      const auto added = Clock::now();
      choosing += chosen - begin, adding += added - measured, nothing += Clock::now() - added;
    }
    std::printf("%2u arms: a choice takes %.0f ns, a time %.0f ns\n", arms, (choosing - nothing).count() / calls,
                (adding - nothing).count() / calls);
  }
}
