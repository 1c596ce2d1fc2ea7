// SPDX-License-Identifier: Apache-2.0
// What rank 0 sends to the other ranks, so that they find its exchanger.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace gc3::net {

/// An IPv6 address, or an IPv4 address in the form ::ffff:a.b.c.d.
using Address = std::array<uint8_t, 16>;

/// Ranks may send it as bytes, if all ranks have the same byte order.
struct Endpoint {
  static constexpr uint32_t mostAddresses = 8;

  uint32_t port = 0;
  uint32_t addressCount = 0;
  uint64_t host = 0;                              ///< number that identifies the machine; 0: unknown
  std::array<uint64_t, 2> token{};                ///< random. Ranks prove to each other that they know it (net/Proof.h)
  std::array<Address, mostAddresses> addresses{}; ///< the preferred one first
};

static_assert(std::is_trivially_copyable_v<Endpoint> && sizeof(Endpoint) == 160, "no padding");

} // namespace gc3::net
