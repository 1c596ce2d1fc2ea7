// SPDX-License-Identifier: Apache-2.0
// The bytes that the ranks of an assembly send to each other after the greetings. They come from a network, so the
// functions that read them check everything. All functions are pure.
#pragma once

#include "net/Greeting.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gc3::job {

struct Message {
  enum class Kind : uint32_t {
    Data = 1, ///< to rank 0: the bytes of a rank for a gather
    Gathered, ///< from rank 0: the bytes of all ranks (writeGathered)
    Question, ///< to rank 0: which ranks does a gather wait for?
    Answer,   ///< from rank 0: the text
    Left,     ///< to rank 0: the sender has left; from rank 0: a rank has left
    Ended,    ///< from rank 0: the process of a rank has ended, with the text of the loss
    Failed,   ///< to rank 0: the sender has failed, with the text of its error; from rank 0: a rank has failed
  };
  Kind kind = Kind::Data;
  uint32_t rank = 0;          ///< the rank that the message is about
  uint64_t round = 0;         ///< number of the gather, from 0
  std::vector<uint8_t> bytes; ///< the content

  bool operator==(const Message &) const = default;
};

inline constexpr size_t headerBytes = 32;
using HeaderBytes = std::array<uint8_t, headerBytes>;

inline constexpr size_t mostDataBytes = size_t{1} << 20; ///< of one rank
inline constexpr size_t mostGatheredBytes = size_t{1} << 28;
inline constexpr size_t mostTextBytes = 4096;

/// Returns the header and the content. Content above the limit of its kind is cut off.
std::vector<uint8_t> writeMessage(const Message &message);

/// A message whose content follows.
struct Announcement {
  Message message;  ///< without its content
  size_t bytes = 0; ///< of the content
};
/// Returns nothing if the bytes are no header of a message between `ranks` ranks, or the size exceeds the limit of its
/// kind.
std::optional<Announcement> readHeader(const HeaderBytes &bytes, uint32_t ranks);

/// Returns the content of a message that carries the bytes of all ranks.
std::vector<uint8_t> writeGathered(const std::vector<std::vector<uint8_t>> &gathered);
/// Returns nothing if the bytes are not the content of `ranks` ranks.
std::optional<std::vector<std::vector<uint8_t>>> readGathered(net::Bytes bytes, uint32_t ranks);

std::vector<uint8_t> bytesOf(std::string_view text);
/// Returns a text in which control characters are replaced: terminals show it.
std::string textOf(net::Bytes bytes);

} // namespace gc3::job
