// SPDX-License-Identifier: Apache-2.0
#include "host/Crowding.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace gc3::host {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longestYield{1}; ///< a longer one shows that other programs use the processor
constexpr std::chrono::milliseconds memory{100};

std::atomic<Clock::rep> crowdedUntil{0};

} // namespace

bool isMachineCrowded() {
  const Clock::rep until = crowdedUntil.load(std::memory_order_relaxed);
  return until != 0 && Clock::now().time_since_epoch().count() < until;
}

bool yieldProcessor() {
  if (isMachineCrowded())
    return false;
  const auto begin = Clock::now();
  std::this_thread::yield();
  if (const auto end = Clock::now(); end - begin > longestYield)
    crowdedUntil.store((end + memory).time_since_epoch().count(), std::memory_order_relaxed);
  return true;
}

} // namespace gc3::host
