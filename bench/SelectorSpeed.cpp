// SPDX-License-Identifier: Apache-2.0
// Times online selection: a choice, the evaluation of a call's time, and the search for a request's kind
// (docs/online.md).
#include "core/SequentialSelection.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

using namespace gc3;
using namespace gc3::select;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

namespace {

/// Two programs without a description.
class TwoPrograms : public core::ArmSource {
public:
  core::Result<core::CallArms> arms(const core::Request &request) override {
    return core::CallArms{{0, 1}, 0, request.count * 4};
  }
  const core::Program *programOf(uint32_t) override { return nullptr; }
};

/// Times the search for the kinds of `count` different requests in turn, after the first turn.
void timeRequests(uint64_t count) {
  TwoPrograms programs;
  core::SequentialSelection selection(programs, {}, {}, {}, {});
  constexpr uint64_t turns = 1000;
  Clock::time_point begin;
  uint64_t found = 0;
  for (uint64_t turn = 0; turn <= turns; ++turn) {
    if (turn == 1)
      begin = Clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      const core::Request request{core::CallKind::Standard, "allreduce", nullptr, nullptr, 1000 + i};
      found += selection.find(request).family != nullptr;
    }
  }
  const Nanoseconds time = Clock::now() - begin;
  std::printf("%llu different requests in turn: %.0f ns for each\n", static_cast<unsigned long long>(count),
              time.count() / static_cast<double>(found - count));
}

} // namespace

int main() {
  for (const uint64_t requests : {1, 60, 500})
    timeRequests(requests);
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
