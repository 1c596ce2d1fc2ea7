// SPDX-License-Identifier: Apache-2.0
// Each worker sweeps its own ranks, which keeps a rank's data in one core's cache. A worker whose ranks make no
// progress for long also sweeps the other workers' ranks. So a call makes progress even if the system does not schedule
// one of its threads.
#include "host/Executor.h"

#include "host/BusyMachine.h"

#include <algorithm>
#include <optional>

namespace gc3::host {

using namespace core;

namespace {

/// Numbers of sweeps without progress after which a worker pauses between sweeps, sweeps the other workers' ranks, and
/// yields its processor. It does not wait for these numbers if the machine is busy. They are smaller if there are
/// more threads than processors, because a spinning thread can then delay the thread that would make progress.
struct IdleLimits {
  uint32_t pause, sweepOthers, yield;
};
constexpr IdleLimits enoughProcessors{100, 1000, 2000}, fewProcessors{0, 4, 8};
/// A sweep also looks for messages of other hosts then, which is a system call. So it is hardly slower to yield, too.
constexpr IdleLimits severalHosts{0, 8, 2};
/// After yielding for this time, a worker checks for a deadlock and sleeps between sweeps, until it makes progress. The
/// limit is a time, because one yield can take milliseconds if other programs use the processors. Each sleep takes
/// twice as long as the one before, up to `longestSleep`.
constexpr std::chrono::milliseconds longestYields{1};
constexpr std::chrono::microseconds shortestSleep{20};
constexpr std::chrono::microseconds longestSleep{1000};

class Work final : public Task {
  using Clock = std::chrono::steady_clock;

public:
  Work(PreparedCall &prepared, uint64_t callNumber, Sharing allowed, std::span<const RankRequest> ownParts,
       uint32_t workerCount)
      : call(prepared), number(callNumber), sharing(allowed), own(ownParts), workers(workerCount),
        limits(chooseLimits()) {}

  void work(uint32_t worker) override {
    Idleness idleness;
    uint32_t firstUnfinished = 0;
    while (!call.stopped() && !finished(firstUnfinished)) {
      const bool hasArrived = call.exchange();
      if (sweepOwn(worker) || hasArrived || (isLate(idleness.sweeps, limits.sweepOthers) && sweepAll()))
        idleness = {};
      else if (isAlone())
        call.diagnose(number, sharing, idleness.patience);
      else
        rest(idleness, firstUnfinished);
    }
  }

private:
  bool runsAll() const { return own.size() == call.site().ranks(); }
  bool isAlone() const { return runsAll() && workers == 1; }

  /// How long a worker has made no progress.
  struct Idleness {
    uint32_t sweeps = 0;
    std::optional<Clock::time_point> sleepsFrom; ///< only if the worker has yielded
    std::chrono::microseconds sleep = shortestSleep;
    PreparedCall::Patience patience;
  };
  /// Lets other threads run after a sweep without progress.
  void rest(Idleness &idleness, uint32_t &firstUnfinished) {
    if (!isLate(++idleness.sweeps, limits.yield)) {
      if (idleness.sweeps >= limits.pause)
        pauseSpin();
      return;
    }
    const Clock::time_point now = Clock::now();
    if (!idleness.sleepsFrom)
      idleness.sleepsFrom = now + longestYields;
    if (now < *idleness.sleepsFrom && yieldProcessor())
      return;
    call.diagnose(number, sharing, idleness.patience);
    call.rest(now + idleness.sleep, [&] { return call.stopped() || finished(firstUnfinished); });
    idleness.sleep = std::min(2 * idleness.sleep, longestSleep);
  }

  /// If other programs use the processors, the thread that would make progress may not run.
  static bool isLate(uint32_t sweeps, uint32_t limit) { return sweeps >= limit || isMachineBusy(); }

  IdleLimits chooseLimits() const {
    if (call.site().transport())
      return severalHosts;
    bool hasFewProcessors = runsAll() ? workers > machineThreads() : crowded(call.site().ranksOnHost(), own.size());
    return hasFewProcessors ? fewProcessors : enoughProcessors;
  }

  /// Returns whether all own ranks are finished. The first `from` of them are known to be finished.
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
    for (const uint32_t rank : call.site().ownRanks())
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
  const IdleLimits limits;
};

} // namespace

void workOn(PreparedCall &call, uint64_t number, Sharing sharing, std::span<const RankRequest> own, WorkerPool &pool,
            uint32_t helpers) {
  Work work(call, number, sharing, own, helpers + 1);
  pool.run(work, helpers);
}

} // namespace gc3::host
