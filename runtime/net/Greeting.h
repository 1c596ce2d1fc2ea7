// SPDX-License-Identifier: Apache-2.0
// The first bytes of a connection to rank 0: the rank's hello, the acknowledgement of rank 0, and the rank's
// confirmation. Both sides prove that they know the communicator's key (net/Proof.h). A refusal can replace the second
// or third greeting. The bytes come from a network, so the function that reads them checks everything. All functions
// are pure.
#pragma once

#include "net/Proof.h"

#include <optional>
#include <span>
#include <string>

namespace gc3::net {

using Bytes = std::span<const uint8_t>;

struct Greeting {
  enum class Kind : uint32_t { Hello = 1, Acknowledgement, Confirmation, Refusal };
  enum class Reason : uint32_t { None, OtherVersion, OtherRanks, OtherSecret, RankIsTaken };

  /// Incremented when a greeting, or the data after it, changes. Greetings of all versions have one size, and the
  /// fields up to `tag` in the same places.
  static constexpr uint32_t currentVersion = 2;

  uint32_t version = currentVersion;
  Kind kind = Kind::Hello;
  Reason reason = Reason::None; ///< of a refusal
  uint32_t rank = 0;            ///< the rank that connects
  uint32_t ranks = 0;           ///< of the sender's communicator
  uint64_t tag = 0;             ///< Key::tag()
  Nonce nonce{};                ///< of the sender
  Proof proof{};                ///< of an acknowledgement and a confirmation

  bool operator==(const Greeting &) const = default;
};

inline constexpr size_t greetingBytes = 88;
using GreetingBytes = std::array<uint8_t, greetingBytes>;

GreetingBytes writeGreeting(const Greeting &greeting);

/// Returns nothing if the bytes are no greeting. If the greeting has another version, only the fields up to `tag` have
/// a meaning, and `kind` and `reason` can have any value.
std::optional<Greeting> readGreeting(const GreetingBytes &bytes);

/// Returns how the sender of `other` differs from the sender of `own`, for this reason. The text completes "rank 0 ..."
/// or "a process that says it is rank N ...".
std::string describeDifference(Greeting::Reason reason, const Greeting &other, const Greeting &own);

} // namespace gc3::net
