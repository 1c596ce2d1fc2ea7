// SPDX-License-Identifier: Apache-2.0
// The header of everything that a process sends to processes of other hosts. What a process receives is external input:
// readHeader() rejects what no process of this version sends. Transport checks the rest, against what it knows. A wire
// does not authenticate processes, so each header has a secret number of the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gc3::host {

struct WireHeader {
  enum class Kind : uint8_t {
    Hello,        ///< the first one on each connection
    Announcement, ///< `place`: the rank, `number`: that of its call. With data
    Message,      ///< `place`: the connection, `number`: messages sent on it before this one. With data
    Credit,       ///< `place`: the connection, `number`: messages received on it
    Bye,          ///< the last one
    Batch,        ///< its data is a sequence of other headers, each with its data
  };
  static constexpr unsigned kindCount = 6;

  Kind kind = Kind::Hello;
  uint64_t token = 0;   ///< secret of the receiving process
  uint32_t process = 0; ///< lowest rank of the sending process
  uint32_t place = 0;
  uint64_t call = 0;       ///< id of the prepared call; 0 except in messages and credits
  uint64_t callNumber = 0; ///< number of the call; 0 except in messages
  uint64_t number = 0;
  uint64_t bytes = 0; ///< size of the data; only in a batch

  bool operator==(const WireHeader &) const = default;
};

/// The bytes of a header. All processes have the same byte order.
struct HeaderImage {
  static constexpr uint32_t currentMagic = 0x32'77'63'67; // "gcw2" in little-endian order

  uint32_t magic = currentMagic, kind = 0;
  uint64_t token = 0;
  uint32_t process = 0, place = 0;
  uint64_t call = 0, callNumber = 0, number = 0, bytes = 0;
};
static_assert(sizeof(HeaderImage) == 56, "no padding");

HeaderImage writeHeader(const WireHeader &header);
/// Returns nothing if the bytes are no header of this version.
std::optional<WireHeader> readHeader(std::span<const std::byte> bytes);

} // namespace gc3::host
