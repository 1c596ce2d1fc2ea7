// SPDX-License-Identifier: Apache-2.0
// Calls of host communicators whose ranks are on several sites, and processes that exist only for tests.
#pragma once

#include "api/HostBackend.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <vector>

namespace gc3::test {

using core::Outcome;

/// Knows of no processes. A test can lose a rank.
class FakeNeighbours final : public host::Neighbours {
public:
  Outcome findLoss() override {
    return isLost.load() ? Outcome{gc3RemoteError, "rank 1, whose process 4711 on host a has ended"} : Outcome{};
  }
  Outcome findLoss(uint32_t rank) override { return rank == 1 ? findLoss() : Outcome{}; }
  void reportFailure(const Outcome &failure) override {
    const std::lock_guard lock(mutex);
    reported = failure;
  }
  bool isStopped(uint32_t rank) override { return isRank1Stopped.load() && rank == 1; }
  std::string describe(uint32_t rank) override { return "whose process is " + std::to_string(100 + rank); }

  std::atomic<bool> isLost{false}, isRank1Stopped{false};
  std::mutex mutex;
  Outcome reported;
};

inline Outcome call(api::Backend &backend, uint32_t rank, const core::Request &request) {
  const core::RankRequest part{rank, request};
  return backend.complete(backend.arrive({&part, 1}));
}

inline core::Request allReduce(const float *send, float *recv, uint64_t count, gc3RedOp_t op = gc3Sum) {
  return {core::CallKind::Standard, "allreduce", send, recv, count, gc3Float32, op, -1};
}

inline float inputOf(uint32_t rank, uint64_t element, uint64_t round) {
  return static_cast<float>((rank + 1) * (element % 7 + 1) + round);
}

/// Makes `rounds` calls of AllReduce on a rank. Returns the first error; wrong sums are failures of the test.
inline Outcome sums(api::Backend &backend, uint32_t rank, uint64_t count, uint64_t rounds, bool isInPlace = false) {
  const uint32_t ranks = backend.ranks();
  std::vector<float> send(count), recv(count);
  for (uint64_t round = 0; round < rounds; ++round) {
    std::vector<float> &input = isInPlace ? recv : send;
    for (uint64_t i = 0; i < count; ++i)
      input[i] = inputOf(rank, i, round);
    if (Outcome outcome = call(backend, rank, allReduce(input.data(), recv.data(), count)); !outcome.ok())
      return outcome;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; ++i) {
      float expected = 0;
      for (uint32_t r = 0; r < ranks; ++r)
        expected += inputOf(r, i, round);
      wrong += recv[i] != expected;
    }
    EXPECT_EQ(wrong, 0u) << "rank " << rank << " round " << round << " count " << count;
  }
  return {};
}

inline void expectAll(const std::vector<Outcome> &outcomes, gc3Result_t code, const std::string &text = {}) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].code, code) << "rank " << rank << ": " << outcomes[rank].text;
    EXPECT_TRUE(text.empty() || outcomes[rank].text == text) << "rank " << rank << ": " << outcomes[rank].text;
  }
}

} // namespace gc3::test
