// SPDX-License-Identifier: Apache-2.0
// Lets threads sleep after they have spun for too long. A thread that changes the awaited state wakes them. If no
// thread sleeps, wake() costs one load. A Parking is made of zeros, so threads of several processes can use one in
// memory that they share.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  using Clock = std::chrono::steady_clock;

  /// Sleeps until `over()` returns true or the deadline passes. Returns the last value of over(). A waker is never
  /// missed if its change is a sequentially consistent store and it then calls wake(). Either it sees this sleeper, or
  /// over() sees its change. Other wakers can be missed. In that case the sleep lasts until the deadline.
  template <typename Over>
  bool sleepUntil(Clock::time_point deadline, Over over) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    bool isOver = false;
    for (;;) {
      const uint32_t before = wakes.load(std::memory_order_seq_cst); // wake() changes it, so the kernel does not sleep
      isOver = over();
      const auto rest = deadline - Clock::now();
      if (isOver || rest <= Clock::duration::zero())
        break;
      sleep(before, std::chrono::duration_cast<std::chrono::nanoseconds>(rest));
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return isOver;
  }

  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) == 0)
      return;
    wakes.fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, &wakes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

private:
  /// Sleeps at most `time`, unless `wakes` is no longer `before`. Can end early.
  void sleep(uint32_t before, std::chrono::nanoseconds time) {
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    const timespec rest{static_cast<time_t>(time.count() / second), static_cast<long>(time.count() % second)};
    ::syscall(SYS_futex, &wakes, FUTEX_WAIT, before, &rest, nullptr, 0);
  }

  std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> wakes{0};
};

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a number of 32 bits");

} // namespace gc3::host
