// SPDX-License-Identifier: Apache-2.0
// Rank 0 collects the messages of all ranks and computes the results of exchanges. It knows no connections.
#pragma once

#include "net/Frame.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gc3::net {

class Hub {
public:
  explicit Hub(uint32_t ranks) : received(ranks), lossReasons(ranks) {}

  /// Adds a rank's message. Returns false if the rank must not send it now: the messages of a rank must be in order,
  /// and at most `mostAhead` exchanges ahead of the first that has not ended.
  bool add(uint32_t rank, uint64_t exchange, const select::Message &message);
  /// Returns whether a rank can wait for an exchange: it has begun, at most `mostAhead` exchanges ahead of others.
  bool mayHurry(uint32_t rank, uint64_t exchange) const { return exchange <= received[rank] + mostAhead; }
  /// No more messages of a rank will come. The reason completes "rank N ...".
  void lose(uint32_t rank, const std::string &reason);
  /// Returns the result of the next exchange, if it has all messages. Returns a failure, once, if it has begun and
  /// waits for a rank that is lost. Otherwise returns nothing.
  std::optional<Frame> next();

  /// Returns a number of first calls whose choices are equal on all ranks, by the results so far.
  uint64_t equalCalls() const { return equal; }
  bool hasLost() const { return lost > 0; }

  static constexpr uint64_t mostAhead = 512;

private:
  struct Round {
    std::vector<select::Message> messages; ///< by rank
    uint32_t count = 0;                    ///< of messages
  };
  std::optional<Frame> fail();

  uint64_t first = 0;                   ///< number of the first exchange that has not ended
  std::deque<Round> rounds;             ///< of this exchange and later ones
  std::vector<uint64_t> received;       ///< by rank: messages that have arrived
  std::vector<std::string> lossReasons; ///< by rank; empty: not lost
  uint32_t lost = 0;                    ///< ranks
  uint64_t equal = 0;                   ///< see equalCalls()
  bool hasFailed = false;
};

} // namespace gc3::net
