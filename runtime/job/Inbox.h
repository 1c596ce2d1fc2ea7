// SPDX-License-Identifier: Apache-2.0
// What the service's thread passes to the thread that waits for a gather.
#pragma once

#include "job/WaitLimits.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gc3::job {

/// Thread-safe.
class Inbox {
public:
  using Gathered = std::vector<std::vector<uint8_t>>;

  void put(Gathered result) { set(gathered, std::move(result)); }
  void putAnswer(std::string text) { set(answer, std::move(text)); }
  std::optional<Gathered> take() { return takeFrom(gathered); }
  std::optional<std::string> takeAnswer() { return takeFrom(answer); }
  bool hasGathered() const { return gathered.has_value(); } ///< only in `isDone` of wait()
  bool hasAnswer() const { return answer.has_value(); }     ///< only in `isDone` of wait()

  /// Makes wait() call `isDone` again.
  void notify() {
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }

  /// Waits until `isDone()`, which runs with the lock. Returns gc3Timeout without a text, or the interruption.
  template <typename IsDone>
  core::Outcome wait(const Wait &wait, IsDone isDone) {
    constexpr std::chrono::milliseconds interval(20);
    std::unique_lock lock(mutex);
    while (!isDone()) {
      const auto now = Wait::Clock::now();
      if (now >= wait.deadline)
        return {gc3Timeout, {}};
      if (!wait.limits.checkInterruption) {
        changed.wait_until(lock, wait.deadline, isDone);
        continue;
      }
      lock.unlock();
      if (core::Outcome interruption = wait.limits.checkInterruption(); !interruption.ok())
        return interruption;
      lock.lock();
      changed.wait_until(lock, std::min(wait.deadline, now + interval), isDone);
    }
    return {};
  }

private:
  template <typename T>
  void set(std::optional<T> &place, T value) {
    const std::lock_guard lock(mutex);
    place = std::move(value);
    changed.notify_all();
  }
  template <typename T>
  std::optional<T> takeFrom(std::optional<T> &place) {
    const std::lock_guard lock(mutex);
    return std::exchange(place, std::nullopt);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Gathered> gathered;
  std::optional<std::string> answer;
};

} // namespace gc3::job
