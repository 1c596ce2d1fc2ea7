// SPDX-License-Identifier: Apache-2.0
// Calls of host communicators whose ranks are on several sites, and processes that exist only for tests.
#pragma once

#include "api/HostBackend.h"
#include "host/BufferArena.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory_resource>
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

/// Allocates in the arena of this process.
class ArenaResource final : public std::pmr::memory_resource {
  void *do_allocate(size_t bytes, size_t) override {
    const core::Result<void *> made = host::arena::allocate(bytes);
    EXPECT_TRUE(made.ok()) << made.outcome().text;
    return *made;
  }
  void do_deallocate(void *buffer, size_t, size_t) override { EXPECT_TRUE(host::arena::release(buffer).ok()); }
  bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

/// How messages between sites reach the buffers of ranks.
enum class Route { ThroughSlots, ThroughTheSystem, Mapped };

inline std::pmr::memory_resource *memoryFor(Route route) {
  static ArenaResource arena;
  return route == Route::Mapped ? &arena : std::pmr::new_delete_resource();
}

using Floats = std::pmr::vector<float>;

/// Makes `rounds` calls of AllReduce on a rank. Returns the first error; wrong sums are failures of the test.
inline Outcome sums(api::Backend &backend, uint32_t rank, uint64_t count, uint64_t rounds, bool isInPlace = false,
                    Route route = Route::ThroughSlots) {
  const uint32_t ranks = backend.ranks();
  Floats send(count, memoryFor(route)), recv(count, memoryFor(route));
  for (uint64_t round = 0; round < rounds; ++round) {
    Floats &input = isInPlace ? recv : send;
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

/// Calls AllToAll, AllGather, ReduceScatter, Broadcast with root 1, and AllReduce on a rank. Returns the first error;
/// wrong results are failures of the test.
inline Outcome callEveryKind(api::Backend &backend, uint32_t rank, uint64_t count, Route route = Route::ThroughSlots) {
  const uint32_t ranks = backend.ranks();
  Floats send(ranks * count, memoryFor(route)), recv(ranks * count, memoryFor(route));
  for (uint64_t i = 0; i < send.size(); ++i)
    send[i] = inputOf(rank, i, 0);
  const auto run = [&](const char *name, int root, uint64_t results, const auto &expected) {
    const Outcome outcome = call(
        backend, rank, {core::CallKind::Standard, name, send.data(), recv.data(), count, gc3Float32, gc3Sum, root});
    uint64_t wrong = 0;
    for (uint64_t i = 0; outcome.ok() && i < results; ++i)
      wrong += recv[i] != expected(static_cast<uint32_t>(i / count), i % count);
    EXPECT_EQ(wrong, 0u) << name << " on rank " << rank;
    return outcome;
  };
  const auto sumAt = [&](uint32_t, uint64_t i) {
    float sum = 0;
    for (uint32_t r = 0; r < ranks; ++r)
      sum += inputOf(r, rank * count + i, 0);
    return sum;
  };
  Outcome outcome =
      run("alltoall", -1, ranks * count, [&](uint32_t from, uint64_t i) { return inputOf(from, rank * count + i, 0); });
  if (outcome.ok())
    outcome = run("allgather", -1, ranks * count, [&](uint32_t from, uint64_t i) { return inputOf(from, i, 0); });
  if (outcome.ok())
    outcome = run("reduce_scatter", -1, count, sumAt);
  if (outcome.ok())
    outcome = run("broadcast", 1, count, [&](uint32_t, uint64_t i) { return inputOf(1, i, 0); });
  return outcome.ok() ? sums(backend, rank, count, 2, false, route) : outcome;
}

inline void expectAll(const std::vector<Outcome> &outcomes, gc3Result_t code, const std::string &text = {}) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].code, code) << "rank " << rank << ": " << outcomes[rank].text;
    EXPECT_TRUE(text.empty() || outcomes[rank].text == text) << "rank " << rank << ": " << outcomes[rank].text;
  }
}

} // namespace gc3::test
