// SPDX-License-Identifier: Apache-2.0
// One exchange of measured times: the message of each rank, and what all ranks compute from all messages
// (docs/selection.md, "Agreement"). All functions are pure. The same messages give the same result on every rank.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

namespace gc3::select {

/// A time that is not known.
inline constexpr float noTime = std::numeric_limits<float>::quiet_NaN();

/// One rank's part of an exchange. Ranks may send it as bytes, if all ranks have the same byte order.
struct Message {
  static constexpr uint32_t mostTimes = 16;

  uint64_t call = 0;    ///< the exchange begins after the choice of this call
  uint64_t choices = 0; ///< digest of all calls and choices up to and including `call`
  uint64_t state = 0;   ///< digest of the states of selector and schedule at this point
  uint32_t lag = 0;     ///< calls that passed until earlier exchanges ended on this rank
  uint32_t count = 0;   ///< calls in the range, which ends before `call`
  /// The rank's times of the calls in the range, in microseconds. A time that is not positive and finite is missing.
  std::array<float, mostTimes> times{};
  /// By call in the range: longestFlag, and bits that can differ between ranks, such as whether the rank's call is in
  /// place.
  std::array<uint8_t, mostTimes> flags{};
};

static_assert(std::is_trivially_copyable_v<Message>);

/// A bit of a call's flags: the sample is the longest time of all ranks. Without it, the sample is the shortest time.
inline constexpr uint8_t longestFlag = 0x80;

/// What all ranks know after an exchange.
struct Exchange {
  uint64_t call = 0;
  uint32_t lag = 0, count = 0;                     ///< lag: the largest of all ranks
  std::array<float, Message::mostTimes> samples{}; ///< by call in the range; noTime if the time of a rank is missing
  std::array<uint8_t, Message::mostTimes> flags{}; ///< by call in the range: the bits that at least one rank has
  std::string error;                               ///< names the ranks that differ; empty if all ranks agree
};

/// Computes the result of an exchange from the messages of all ranks, by rank. Allocates nothing, except for an error.
/// O(ranks * count).
Exchange evaluate(std::span<const Message *const> messages);

} // namespace gc3::select
