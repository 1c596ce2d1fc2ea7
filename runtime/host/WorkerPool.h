// SPDX-License-Identifier: Apache-2.0
// Threads that lend a hand to one task at a time. The thread that opens a task works on it itself; helpers enter while
// it is open. They spin briefly for the next task, then park.
#pragma once

#include "host/Parking.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace gc3::host {

/// Threads that the machine can run at once; at least 1.
uint32_t machineThreads();

/// Whether `ranks` ranks, of which this thread brings `own`, may be on more threads than that: then threads make way
/// for each other instead of spinning.
inline bool crowded(uint32_t ranks, size_t own) {
  return (ranks + own - 1) / own > machineThreads();
}

class Task {
public:
  virtual ~Task() = default;
  /// Runs on several threads at once, each with another number; 0 is the opener. Returns when the whole task is done.
  virtual void work(uint32_t worker) = 0;
};

class WorkerPool {
public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;
  ~WorkerPool();

  /// Runs `task` on the calling thread and up to `helpers` others, started or woken as needed. Returns when no thread
  /// is in the task any more. One caller at a time.
  void run(Task &task, uint32_t helpers);

private:
  void threadMain();
  bool help();

  std::atomic<Task *> open{nullptr};
  std::atomic<uint32_t> inside{0};  ///< helpers that are in the task or looking
  std::atomic<uint32_t> tickets{0}; ///< next worker number
  std::atomic<uint32_t> wanted{0};  ///< worker numbers below this may work
  std::atomic<uint32_t> parked{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
  uint64_t calls = 0; ///< guarded by mutex: tasks that pool threads were woken for
  std::vector<std::thread> threads;
};

} // namespace gc3::host
