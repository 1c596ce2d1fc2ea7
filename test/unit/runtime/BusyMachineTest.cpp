// SPDX-License-Identifier: Apache-2.0
#include "host/BusyMachine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sched.h>
#include <thread>

namespace gc3::host {
namespace {

/// Binds the calling thread, and the threads that it creates, to one processor, until the destruction.
class OneProcessor {
public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before, &before); }
  OneProcessor(const OneProcessor &) = delete;
  OneProcessor &operator=(const OneProcessor &) = delete;

private:
  cpu_set_t before{};
};

TEST(BusyMachine, ALongYieldIsNoticed) {
  const OneProcessor bound;
  std::atomic<bool> isOver = false;
  std::thread other([&] {
    while (!isOver.load(std::memory_order_relaxed))
      ;
  });
  constexpr int most = 10'000;
  int yields = 0;
  while (yields < most && yieldProcessor())
    ++yields;
  isOver = true;
  other.join();
  if (yields == most)
    GTEST_SKIP() << "SKIPPED: this system gives a thread less than a millisecond before it runs another one";
}

} // namespace
} // namespace gc3::host
