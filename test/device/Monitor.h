// SPDX-License-Identifier: Apache-2.0
// The one lock of the fakes of CUDA and NCCL, and its condition variable. The lock is recursive: a function of one fake
// calls the other. A wait releases all levels of the calling thread. There is one monitor in a process, because a
// table of functions has no place for an object. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace gc3::test {

class Monitor {
public:
  /// Holds the monitor.
  class Lock {
  public:
    Lock() { Monitor::lock(); }
    ~Lock() { Monitor::unlock(); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
  };

  /// Releases all levels of the calling thread, so that a hook of a test runs without the monitor; then acquires them
  /// again.
  class Unlocked {
  public:
    Unlocked() : levels(Monitor::unlockAll()) {}
    ~Unlocked() { Monitor::lock(levels); }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

  private:
    size_t levels;
  };

  static void lock(size_t levels = 1);
  static void unlock();

  /// Waits until `done` returns true. Calls `done` with the monitor held: after each change(), and every few
  /// milliseconds, because host code also writes to memory that kernels poll. `what` names the wait for waiting(), such
  /// as "NCCL CommSplit". Returns false after a minute, which means a deadlock.
  [[nodiscard]] static bool wait(const std::string &what, const std::function<bool()> &done);
  /// Wakes all threads that wait. The caller must hold the monitor.
  static void change();

  /// Returns the number of threads in wait(what).
  static size_t waiting(const std::string &what);
  /// Waits until `threads` threads are in wait(what), so that a test can act while they wait. Ends the process after a
  /// minute.
  static void awaitWaiting(const std::string &what, size_t threads = 1);
  /// Prints `message` and all waits, and ends the process.
  [[noreturn]] static void fail(const std::string &message);

private:
  static size_t unlockAll();
};

} // namespace gc3::test
