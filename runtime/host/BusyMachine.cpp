// SPDX-License-Identifier: Apache-2.0
#include "host/BusyMachine.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace gc3::host {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longestYield{1}; ///< a longer one shows that other programs use the processor
constexpr std::chrono::milliseconds busyTime{100};   ///< the machine counts as busy for so long after a long yield

std::atomic<Clock::rep> busyUntil{0};

} // namespace

bool isMachineBusy() {
  const Clock::rep until = busyUntil.load(std::memory_order_relaxed);
  return until != 0 && Clock::now().time_since_epoch().count() < until;
}

bool yieldProcessor() {
  if (isMachineBusy())
    return false;
  const auto begin = Clock::now();
  std::this_thread::yield();
  if (const auto end = Clock::now(); end - begin > longestYield)
    busyUntil.store((end + busyTime).time_since_epoch().count(), std::memory_order_relaxed);
  return true;
}

} // namespace gc3::host
