// SPDX-License-Identifier: Apache-2.0
// The lock that the fakes of CUDA and NCCL share, and its condition variable. The lock is recursive, because functions
// of one fake call the other fake. A wait releases all levels that the calling thread holds. A process has one monitor,
// because the functions in a CUDA or NCCL table have no parameter for an object. Thread-safe.
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

  /// Releases all levels that the calling thread holds, so that a test's hook runs without the monitor. The destructor
  /// acquires them again.
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
  /// milliseconds, because host code can write to polled memory without a call of change(). `what` is a name for
  /// waiting(), such as "NCCL CommSplit". Returns false after a minute, which means a deadlock.
  [[nodiscard]] static bool wait(const std::string &what, const std::function<bool()> &done);
  /// Wakes all threads that wait. The caller must hold the monitor.
  static void change();

  /// Returns the number of threads in wait(what).
  static size_t waiting(const std::string &what);
  /// Waits until at least `threads` threads are in wait(what), so that a test can act while they wait. Ends the process
  /// after a minute.
  static void awaitWaiting(const std::string &what, size_t threads = 1);
  /// Prints `message` and the number of threads in each wait, and ends the process.
  [[noreturn]] static void fail(const std::string &message);

private:
  static size_t unlockAll();
};

} // namespace gc3::test
