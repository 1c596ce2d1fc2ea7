// SPDX-License-Identifier: Apache-2.0
// How two ranks prove to each other that they belong to one communicator, without sending what they know: each sends a
// random nonce, and an HMAC of both nonces. So a program that reads the network can't use a proof again. The functions
// throw std::runtime_error if libsodium is not installed.
#pragma once

#include "net/Endpoint.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gc3::net {

using Token = std::array<uint64_t, 2>;
using Nonce = std::array<uint8_t, 16>;
using Proof = std::array<uint8_t, 32>;

/// Returns a token that is equal for equal texts. A program that knows the text knows the token.
Token tokenOf(std::string_view text);

/// Fills at most 256 bytes with random numbers of the operating system. Throws std::system_error.
void fillRandomly(std::span<std::byte> bytes);

Nonce makeNonce();

/// What the ranks of a communicator know: its token, and the user's secret, which can be empty.
class Key {
public:
  Key(const Token &token, std::string_view secret);

  /// Returns a public number that identifies the communicator. It does not depend on the secret.
  uint64_t tag() const { return publicTag; }

  enum class Side : uint8_t { Rank0, Other };
  /// What a proof states: a rank of `ranks` has connected to rank 0 with these nonces.
  struct Statement {
    Side side = Side::Rank0;
    uint32_t rank = 0, ranks = 0;
    Nonce ofOther{}, ofRank0{};
  };
  Proof prove(const Statement &statement) const;
  /// Takes the same time for all wrong proofs.
  bool isProven(const Statement &statement, const Proof &proof) const;

private:
  std::array<uint8_t, 32> bytes{};
  uint64_t publicTag = 0;
};

} // namespace gc3::net
