// SPDX-License-Identifier: Apache-2.0
// What the thread that makes the calls and the exchanger's thread pass to each other. Thread-safe.
#pragma once

#include "core/Result.h"
#include "select/Exchange.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace gc3::net {

class Mailbox {
public:
  // For the thread that makes the calls (net/Exchanger.h).
  void begin(const select::Message &message);
  bool takeWithin(std::chrono::microseconds time, select::Exchange &result);
  /// Returns false if a call has hurried this exchange before.
  bool hurry(uint64_t exchange);
  core::Outcome error() const;
  /// Returns false if rank 0 need not be asked: a difference is known, or this rank has asked.
  bool beginComparison();
  std::optional<std::string> comparison() const;
  /// Returns how many exchanges have been hurried. Thread-safe.
  uint64_t hurriedExchanges() const;

  // For the exchanger's thread.
  /// Moves the messages that have begun to the end of `messages`. Returns how many exchanges send their messages
  /// without waiting for times.
  uint64_t collect(std::deque<select::Message> &messages);
  /// Adds the result of the next exchange. Returns false if it is not the result of a message of this rank.
  bool addResult(uint64_t exchange, select::Exchange result);
  /// Keeps the first difference.
  void setVerdict(const std::string &difference);
  /// Keeps the first error.
  void fail(const std::string &text);

private:
  /// The calls of an exchange that has begun here and not ended.
  struct Range {
    uint64_t call = 0;
    uint32_t count = 0;
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<select::Message> begun;
  std::deque<Range> ranges;
  std::deque<select::Exchange> results;
  std::atomic<size_t> resultCount = 0; ///< results.size(), without the mutex
  uint64_t ended = 0;                  ///< exchanges
  uint64_t hurried = 0;                ///< exchanges
  bool hasAsked = false;               ///< for a comparison
  std::optional<std::string> verdict;
  core::Outcome firstError;
};

} // namespace gc3::net
