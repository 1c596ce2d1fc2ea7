// SPDX-License-Identifier: Apache-2.0
// Entering and closing a task is a Dekker handshake: a helper increments `inside` before it reads `open`; the opener
// clears `open` before it reads `inside`. All four accesses are sequentially consistent. So either the helper sees that
// the task is closed, or the opener waits for the helper.
#include "host/WorkerPool.h"

#include <algorithm>
#include <system_error>

namespace gc3::host {

namespace {
constexpr unsigned spinsBeforePark = 4000;
}

uint32_t machineThreads() {
  static const uint32_t threads = std::max(1u, std::thread::hardware_concurrency()); // one system call per process
  return threads;
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex);
    stopping.store(true, std::memory_order_relaxed);
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

/// Works on the open task if it needs more helpers. Returns false if there is no such task.
bool WorkerPool::help() {
  if (!open.load(std::memory_order_relaxed))
    return false;
  inside.fetch_add(1, std::memory_order_seq_cst);
  Task *task = open.load(std::memory_order_seq_cst);
  bool entered = false;
  if (task) {
    uint32_t ticket = tickets.fetch_add(1, std::memory_order_relaxed);
    entered = ticket < wanted.load(std::memory_order_relaxed);
    if (entered)
      task->work(ticket);
  }
  inside.fetch_sub(1, std::memory_order_release);
  return entered;
}

void WorkerPool::run(Task &task, uint32_t helpers) {
  if (helpers == 0) {
    task.work(0);
    return;
  }
  wanted.store(helpers + 1, std::memory_order_relaxed);
  tickets.store(1, std::memory_order_relaxed);
  open.store(&task, std::memory_order_seq_cst);
  try {
    while (threads.size() < helpers)
      threads.emplace_back([this] { threadMain(); });
  } catch (const std::system_error &) {
    // The system has no more threads, so the existing threads do the work.
  }
  if (parked.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard lock(mutex);
    ++calls;
    wake.notify_all();
  }
  task.work(0);
  open.store(nullptr, std::memory_order_seq_cst);
  for (unsigned spins = 0; inside.load(std::memory_order_seq_cst) != 0; ++spins)
    spins < 1000 ? pauseSpin() : std::this_thread::yield();
}

void WorkerPool::threadMain() {
  for (unsigned spins = 0; !stopping.load(std::memory_order_relaxed);) {
    if (help()) {
      spins = 0;
      continue;
    }
    if (++spins < spinsBeforePark) {
      pauseSpin();
      continue;
    }
    spins = 0;
    std::unique_lock lock(mutex);
    parked.fetch_add(1, std::memory_order_seq_cst);
    uint64_t before = calls;
    // A thread that opened a task before `parked` increased saw no parked thread and woke none. This thread sees such a
    // task here.
    if (!open.load(std::memory_order_seq_cst))
      wake.wait(lock, [&] { return calls != before || stopping.load(std::memory_order_relaxed); });
    parked.fetch_sub(1, std::memory_order_relaxed);
  }
}

} // namespace gc3::host
