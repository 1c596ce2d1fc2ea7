// SPDX-License-Identifier: Apache-2.0
// Threads that help with one task at a time. The thread that opens a task works on it, too; helpers enter while it is
// open. Helpers spin briefly for the next task, then park.
#pragma once

#include "host/Parking.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace gc3::host {

/// Returns the number of threads that the machine can run at once, at least 1.
uint32_t machineThreads();

/// Returns whether a call can have more threads than the machine can run at once, if each thread runs `own` of `ranks`
/// ranks. Threads then yield instead of spinning.
inline bool crowded(uint32_t ranks, size_t own) {
  return (ranks + own - 1) / own > machineThreads();
}

class Task {
public:
  virtual ~Task() = default;
  /// Called on several threads concurrently, each with a different number; 0 is the opener. Returns when the whole task
  /// is done.
  virtual void work(uint32_t worker) = 0;
};

class WorkerPool {
public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;
  ~WorkerPool();

  /// Runs `task` on the calling thread and up to `helpers` other threads, which are started or woken as needed. Returns
  /// when no thread is in the task. Not thread-safe.
  void run(Task &task, uint32_t helpers);

private:
  void threadMain();
  bool help();

  std::atomic<Task *> open{nullptr};
  std::atomic<uint32_t> inside{0};  ///< helpers that are in the task or checking for one
  std::atomic<uint32_t> tickets{0}; ///< next worker number
  std::atomic<uint32_t> wanted{0};  ///< worker numbers below this may work
  std::atomic<uint32_t> parked{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
  uint64_t calls = 0; ///< tasks for which parked threads were woken; guarded by `mutex`
  std::vector<std::thread> threads;
};

} // namespace gc3::host
