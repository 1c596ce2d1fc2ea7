// SPDX-License-Identifier: Apache-2.0
#include "Monitor.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace gc3::test {

namespace {

// Not steady_clock: with it, waits call pthread_cond_clockwait, which gcc's thread sanitizer does not know.
using Clock = std::chrono::system_clock;
constexpr auto tick = std::chrono::milliseconds(2);
constexpr auto longest = std::chrono::minutes(1);

/// Never destroyed, because threads can call the monitor while the process exits.
struct Shared {
  std::recursive_mutex mutex;
  std::condition_variable_any changed;
  std::map<std::string, size_t> waits; ///< number of threads in each wait, by name
};
Shared &shared() {
  static auto *made = new Shared;
  return *made;
}

thread_local size_t depth = 0; ///< levels that this thread holds

/// All levels that the calling thread holds, as the lockable object that a condition variable needs.
struct AllLevels {
  size_t levels = 0;
  void lock() { Monitor::lock(levels); }
  void unlock() {
    for (levels = depth; depth > 0;)
      Monitor::unlock();
  }
};

bool waitUntil(const std::function<bool()> &done) {
  AllLevels levels;
  const Clock::time_point end = Clock::now() + longest;
  while (!done()) {
    if (Clock::now() > end)
      return false;
    shared().changed.wait_until(levels, Clock::now() + tick);
  }
  return true;
}

} // namespace

void Monitor::lock(size_t levels) {
  for (; levels > 0; --levels, ++depth)
    shared().mutex.lock();
}

void Monitor::unlock() {
  --depth;
  shared().mutex.unlock();
}

size_t Monitor::unlockAll() {
  AllLevels all;
  all.unlock();
  return all.levels;
}

bool Monitor::wait(const std::string &what, const std::function<bool()> &done) {
  const Lock lock;
  if (done())
    return true;
  ++shared().waits[what];
  change();
  const bool isDone = waitUntil(done);
  --shared().waits[what];
  return isDone;
}

void Monitor::change() {
  shared().changed.notify_all();
}

size_t Monitor::waiting(const std::string &what) {
  const Lock lock;
  const auto found = shared().waits.find(what);
  return found == shared().waits.end() ? 0 : found->second;
}

void Monitor::awaitWaiting(const std::string &what, size_t threads) {
  const Lock lock;
  if (!waitUntil([&] { return waiting(what) >= threads; }))
    fail("no thread waits in " + what);
}

void Monitor::fail(const std::string &message) {
  std::fprintf(stderr, "fake: %s\n", message.c_str());
  for (const auto &[what, threads] : shared().waits)
    if (threads != 0)
      std::fprintf(stderr, "fake: %zu threads wait in %s\n", threads, what.c_str());
  std::abort();
}

} // namespace gc3::test
