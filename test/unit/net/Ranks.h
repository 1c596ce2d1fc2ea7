// SPDX-License-Identifier: Apache-2.0
// Exchangers of all ranks of a communicator, in one process.
#pragma once

#include "net/Exchanger.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace gc3::net {

inline constexpr std::chrono::milliseconds longTime(60000); // a limit that no test reaches

/// A message of a range of 16 calls. Equal numbers give messages that agree.
inline select::Message makeMessage(uint64_t exchange) {
  return {16 * exchange, exchange * 7, exchange * 9, 3, exchange == 0 ? 0U : 16U, {}, {}};
}

/// The time that a rank has for a call.
inline float timeOf(uint32_t rank, uint64_t call) {
  return static_cast<float>(100 + 10 * rank + call % 1000);
}

/// Fills in all times.
inline bool readAll(uint32_t rank, select::Message &message) {
  for (uint32_t i = 0; i < message.count; ++i)
    message.times[i] = timeOf(rank, message.call - message.count + i);
  return true;
}

/// Exchangers, by rank. Rank 0 listens.
class Ranks {
public:
  explicit Ranks(uint32_t ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank)
      exchangers.push_back(std::make_unique<Exchanger>(Exchanger::Identity{rank, ranks, 1}));
    core::Result<Endpoint> opened = exchangers[0]->listen("");
    EXPECT_TRUE(opened.ok()) << opened.outcome().text;
    if (opened.ok())
      endpoint = *opened;
  }

  Exchanger &operator[](size_t rank) { return *exchangers[rank]; }
  uint32_t size() const { return static_cast<uint32_t>(exchangers.size()); }
  void remove(size_t rank) { exchangers[rank].reset(); }

  /// Connects all ranks, and starts them. `makeReadTimes(rank)` returns what the rank's thread calls.
  /// `lookBack(rank, asked)` returns the rank's answer to a question.
  template <typename MakeReadTimes>
  void start(MakeReadTimes makeReadTimes, std::function<Answer(uint32_t rank, uint64_t asked)> lookBack = {}) {
    std::vector<std::future<core::Outcome>> outcomes;
    for (const auto &exchanger : exchangers)
      outcomes.push_back(std::async(std::launch::async, [&] { return exchanger->connect(endpoint, longTime, {}); }));
    for (uint32_t rank = 0; rank < size(); ++rank) {
      const core::Outcome connected = outcomes[rank].get();
      EXPECT_TRUE(connected.ok()) << connected.text;
      EXPECT_TRUE(exchangers[rank]->start(makeReadTimes(rank), std::bind_front(lookBack, rank)).ok());
    }
  }
  void start() {
    start([](uint32_t rank) { return [rank](select::Message &message) { return readAll(rank, message); }; });
  }

  Endpoint endpoint;

private:
  std::vector<std::unique_ptr<Exchanger>> exchangers;
};

} // namespace gc3::net
