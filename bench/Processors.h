// SPDX-License-Identifier: Apache-2.0
// Runs two threads on two processors, and measures times.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <sched.h>
#include <thread>
#include <vector>

namespace bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    std::perror("sched_setaffinity");
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// A barrier for two threads, which spin while they wait.
class SpinBarrier {
public:
  void wait() {
    uint64_t turn = turns.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) == 1) {
      arrived.store(0, std::memory_order_relaxed);
      turns.store(turn + 1, std::memory_order_release);
    } else {
      while (turns.load(std::memory_order_acquire) == turn)
        ;
    }
  }

private:
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<uint64_t> turns{0};
};

/// Runs function(0) and function(1) on two threads, each on its own processor. A new thread starts on the processor of
/// its creator. If the creator stayed there and spun at real-time priority, the new thread could not run. So the
/// creator moves to processor 1 to create the thread, then back to processor 0.
inline void onBothProcessors(const std::function<void(int)> &function) {
  pin(1);
  std::thread other([&] { function(1); });
  pin(0);
  function(0);
  other.join();
}

/// Returns the nanoseconds of a round trip of one cache line between the processors.
inline double pingPong() {
  constexpr int rounds = 2000;
  alignas(64) static std::atomic<int> ball;
  ball = 0;
  double seconds = 0;
  onBothProcessors([&](int rank) {
    double begin = 0;
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 4)
        begin = now();
      while (ball.load(std::memory_order_acquire) != 2 * i + rank)
        ;
      ball.store(2 * i + rank + 1, std::memory_order_release);
    }
    if (rank == 0)
      seconds = now() - begin;
  });
  return seconds * 1e9 / (rounds - rounds / 4);
}

/// Runs loop(0) and loop(1) on two threads, `calls` times each. Returns the seconds per call of the slower thread.
template <typename Loop>
double sampleThreads(int calls, Loop loop) {
  SpinBarrier barrier;
  double took[2];
  onBothProcessors([&](int side) {
    barrier.wait();
    double begin = now();
    for (int i = 0; i < calls; ++i)
      loop(side);
    took[side] = now() - begin;
    barrier.wait();
  });
  return std::max(took[0], took[1]) / calls;
}

} // namespace bench
