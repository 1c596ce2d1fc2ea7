// SPDX-License-Identifier: Apache-2.0
#include "cuda/PeriodicThread.h"

#include <algorithm>
#include <chrono>

namespace gc3::cuda {

void PeriodicThread::start(uint32_t timeoutMs, std::function<void()> look) {
  thread = std::thread([this, timeoutMs, look = std::move(look)] {
    const std::chrono::milliseconds period(std::max(1u, timeoutMs / 8));
    std::unique_lock lock(ending);
    while (!ended.wait_for(lock, period, [this] { return isEnding; }))
      look();
  });
}

PeriodicThread::~PeriodicThread() {
  {
    std::lock_guard lock(ending);
    isEnding = true;
  }
  ended.notify_all();
  if (thread.joinable())
    thread.join();
}

} // namespace gc3::cuda
