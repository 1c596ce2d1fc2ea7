// SPDX-License-Identifier: Apache-2.0
// A thread that looks after something from time to time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace gc3::cuda {

class Watcher {
public:
  Watcher() = default;
  ~Watcher();
  Watcher(const Watcher &) = delete;
  Watcher &operator=(const Watcher &) = delete;

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
