// SPDX-License-Identifier: Apache-2.0
// Each worker sweeps its own ranks, which keeps a rank's data in one core's cache. A worker whose ranks make no
// progress for long also sweeps the other workers' ranks, so that a thread that is not scheduled delays nothing.
#include "host/Executor.h"

#include <algorithm>
#include <thread>

namespace gc3::host {

using namespace core;

namespace {

/// Numbers of fruitless sweeps over its own ranks after which a worker pauses between sweeps, sweeps the other workers'
/// ranks, yields its time slice, and suspects a deadlock. If there are more threads than processors, spinning can keep
/// the very thread from running that would make progress.
struct Patience {
  uint32_t pausing, stealing, yielding, suspicion;
};
constexpr Patience alone{0, UINT32_MAX, 0, 0}, roomy{100, 1000, 2000, 4000}, tight{0, 4, 8, 4000};
/// A worker without work sleeps after it has suspected a deadlock, each time twice as long, until there is work again.
constexpr std::chrono::microseconds shortestNap{20};
constexpr std::chrono::microseconds longestNap{1000};

class Work final : public Task {
public:
  Work(PreparedCall &prepared, uint64_t callNumber, Sharing allowed, std::span<const RankRequest> ownParts,
       uint32_t workerCount)
      : call(prepared), number(callNumber), sharing(allowed), own(ownParts), workers(workerCount),
        patience(choosePatience()) {}

  void work(uint32_t worker) override {
    std::chrono::microseconds nap = shortestNap;
    uint32_t firstOpen = 0;
    for (uint32_t idle = 0; !call.stopped() && !finished(firstOpen);) {
      if (sweepOwn(worker) || (idle >= patience.stealing && sweepAll())) {
        idle = 0;
        nap = shortestNap;
        continue;
      }
      if (idle >= patience.suspicion) {
        call.diagnose(number, sharing);
        idle = patience.yielding;
        if (own.size() != call.ranks() || workers != 1) {
          call.idleThreads.sleepUntil(std::chrono::steady_clock::now() + nap,
                                      [&] { return call.stopped() || finished(firstOpen); });
          nap = std::min(2 * nap, longestNap);
        }
      }
      if (++idle >= patience.yielding)
        std::this_thread::yield();
      else if (idle >= patience.pausing)
        pauseSpin();
    }
  }

private:
  Patience choosePatience() const {
    if (own.size() == call.ranks() && workers == 1)
      return alone;
    bool isTight = own.size() == call.ranks() ? workers > machineThreads() : crowded(call.ranks(), own.size());
    return isTight ? tight : roomy;
  }

  /// Returns whether all own ranks are finished. The first `from` of them are known to be.
  bool finished(uint32_t &from) const {
    while (from < own.size() && call.finished(own[from].rank, number))
      ++from;
    return from == own.size();
  }

  bool sweepOwn(uint32_t worker) {
    bool progress = false;
    for (size_t i = worker; i < own.size(); i += workers)
      progress |= call.sweep(own[i].rank, number, sharing);
    return progress;
  }

  bool sweepAll() {
    bool progress = false;
    for (uint32_t rank = 0; rank < call.ranks(); ++rank)
      if (!call.finished(rank, number))
        progress |= call.sweep(rank, number, sharing);
    if (progress)
      call.idleThreads.wake();
    return progress;
  }

  PreparedCall &call;
  const uint64_t number;
  const Sharing sharing;
  const std::span<const RankRequest> own;
  const uint32_t workers;
  const Patience patience;
};

} // namespace

void workOn(PreparedCall &call, uint64_t number, Sharing sharing, std::span<const RankRequest> own, WorkerPool &pool,
            uint32_t helpers) {
  Work work(call, number, sharing, own, helpers + 1);
  pool.run(work, helpers);
}

} // namespace gc3::host
