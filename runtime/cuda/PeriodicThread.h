// SPDX-License-Identifier: Apache-2.0
// A thread that looks after something from time to time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace gc3::cuda {

class PeriodicThread {
public:
  PeriodicThread() = default;
  ~PeriodicThread();
  PeriodicThread(const PeriodicThread &) = delete;
  PeriodicThread &operator=(const PeriodicThread &) = delete;

  /// Looks so often that what may take `timeoutMs` takes an eighth more at most. Once; throws std::system_error where
  /// there is no thread.
  void start(uint32_t timeoutMs, std::function<void()> look);

private:
  std::mutex ending;
  std::condition_variable ended;
  bool isEnding = false; ///< guarded by `ending`
  std::thread thread;
};

} // namespace gc3::cuda
