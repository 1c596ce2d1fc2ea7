// SPDX-License-Identifier: Apache-2.0
// Lets threads sleep after they have spun for too long. A thread that changes the awaited state wakes them. If no
// thread sleeps, wake() costs one load.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace gc3::host {

/// Hints to the processor that this is a spin loop.
inline void pauseSpin() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Parking {
public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Sleeps until `over()` returns true or the deadline passes. Calls `over()` under the lock. Returns the last value
  /// of over(). A waker is never missed if its change is a sequentially consistent store and it then calls wake().
  /// Either it sees this sleeper, or over() sees its change. Other wakers can be missed. In that case the sleep lasts
  /// until the deadline.
  template <typename Over>
  bool sleepUntil(Deadline deadline, Over over) {
    std::unique_lock lock(mutex);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    bool done = wakeUp.wait_until(lock, deadline, over);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return done;
  }

  bool occupied() const { return sleepers.load(std::memory_order_seq_cst) != 0; }

  void wake() {
    if (!occupied())
      return;
    std::lock_guard lock(mutex); // waits for a thread between over() and its sleep
    wakeUp.notify_all();
  }

private:
  std::atomic<uint32_t> sleepers{0};
  std::mutex mutex;
  std::condition_variable wakeUp;
};

} // namespace gc3::host
