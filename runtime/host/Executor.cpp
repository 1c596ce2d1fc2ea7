// SPDX-License-Identifier: Apache-2.0
// Each worker sweeps the ranks that are its own by number, which keeps a rank's data in one core's cache; a worker
// whose ranks stand still tries the others' too, so that a helper that the system has not scheduled delays nothing.
// Deadlock is decided by holding all ranks at once: then nothing changes, and if no thread block can step, none ever
// will.
#include "host/Executor.h"

#include <algorithm>
#include <chrono>

namespace gc3::host {

namespace {

/// Fruitless sweeps over its own ranks after which a worker looks at the others', gives up its time slice, and suspects
/// a deadlock.
constexpr uint32_t sweepsBeforeStealing = 32;
constexpr uint32_t sweepsBeforeYielding = 2000;
constexpr uint32_t sweepsBeforeSuspicion = 4000;
/// A worker that has nothing to do for longer than that sleeps, each time for longer, until there is something again.
constexpr std::chrono::microseconds shortestNap{20};
constexpr std::chrono::microseconds longestNap{1000};

class FairTask final : public Task {
public:
  FairTask(Run &started, uint32_t workerCount) : run(started), workers(workerCount) {}

  void work(uint32_t worker) override {
    uint32_t idle = 0;
    std::chrono::microseconds nap = shortestNap;
    while (!run.finished() && !stopped.load(std::memory_order_acquire)) {
      bool progress = sweepOwn(worker);
      if (!progress && (++idle >= sweepsBeforeStealing || workers == 1))
        progress = sweepOthers(worker);
      if (progress) {
        idle = 0;
        nap = shortestNap;
        continue;
      }
      if (workers == 1 || idle >= sweepsBeforeSuspicion) {
        diagnose();
        idle = sweepsBeforeYielding;
        if (workers != 1) {
          std::this_thread::sleep_for(nap);
          nap = std::min(2 * nap, longestNap);
        }
      }
      idle < sweepsBeforeYielding ? pauseSpin() : std::this_thread::yield();
    }
  }

  std::string takeDeadlock() { return std::move(deadlock); }

private:
  bool sweepHeld(uint32_t rank) {
    if (!run.tryHold(rank))
      return false;
    bool progress = run.sweep(rank);
    run.release(rank);
    return progress;
  }

  bool sweepOwn(uint32_t worker) {
    bool progress = false;
    for (uint32_t rank = worker; rank < run.program().ranks(); rank += workers)
      progress |= sweepHeld(rank);
    return progress;
  }

  bool sweepOthers(uint32_t worker) {
    bool progress = false;
    for (uint32_t rank = 0; rank < run.program().ranks(); ++rank)
      if (rank % workers != worker)
        progress |= sweepHeld(rank);
    return progress;
  }

  void diagnose() {
    if (diagnosing.exchange(true, std::memory_order_acquire))
      return;
    uint32_t ranks = run.program().ranks();
    for (uint32_t rank = 0; rank < ranks; ++rank)
      while (!run.tryHold(rank))
        std::this_thread::yield();
    bool progress = run.finished() || stopped.load(std::memory_order_relaxed);
    for (uint32_t rank = 0; rank < ranks; ++rank)
      progress |= run.sweep(rank);
    if (!progress && !run.finished()) {
      deadlock = run.explainDeadlock();
      stopped.store(true, std::memory_order_release);
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
      run.release(rank);
    diagnosing.store(false, std::memory_order_release);
  }

  Run &run;
  const uint32_t workers;
  std::atomic<bool> stopped{false};
  std::atomic<bool> diagnosing{false};
  std::string deadlock; ///< written before stopped
};

} // namespace

std::string runFair(Run &run, WorkerPool &pool, uint32_t workers) {
  FairTask task(run, workers);
  pool.run(task, workers - 1);
  return task.takeDeadlock();
}

} // namespace gc3::host
