// SPDX-License-Identifier: Apache-2.0
#include "job/Message.h"

#include <algorithm>
#include <cstring>

namespace gc3::job {

namespace {

constexpr uint32_t messageMagic = 0x31'6a'63'67; // "gcj1" in little-endian order

struct Header {
  uint32_t magic, kind, rank, unused;
  uint64_t round;
  uint64_t bytes; ///< of the content, which follows
};
static_assert(sizeof(Header) == headerBytes, "no padding");

/// Returns the limit on the content of a kind; nothing if there is no such kind.
std::optional<size_t> limitOf(Message::Kind kind) {
  switch (kind) {
  case Message::Kind::Data: return mostDataBytes;
  case Message::Kind::Gathered: return mostGatheredBytes;
  case Message::Kind::Answer:
  case Message::Kind::Ended:
  case Message::Kind::Failed: return mostTextBytes;
  case Message::Kind::Question:
  case Message::Kind::Left: return 0;
  }
  return std::nullopt;
}

} // namespace

std::vector<uint8_t> writeMessage(const Message &message) {
  const size_t size = std::min(message.bytes.size(), limitOf(message.kind).value_or(0));
  const Header header{messageMagic, static_cast<uint32_t>(message.kind), message.rank, 0, message.round, size};
  std::vector<uint8_t> bytes(sizeof header + size);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::copy_n(message.bytes.begin(), size, bytes.begin() + sizeof header);
  return bytes;
}

std::optional<Announcement> readHeader(const HeaderBytes &bytes, uint32_t ranks) {
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto kind = static_cast<Message::Kind>(header.kind);
  const std::optional<size_t> limit = limitOf(kind);
  if (header.magic != messageMagic || header.unused != 0 || header.rank >= ranks || !limit || header.bytes > *limit)
    return std::nullopt;
  return Announcement{{kind, header.rank, header.round, {}}, header.bytes};
}

std::vector<uint8_t> writeGathered(const std::vector<std::vector<uint8_t>> &gathered) {
  std::vector<uint8_t> bytes(gathered.size() * sizeof(uint32_t));
  for (size_t rank = 0; rank < gathered.size(); ++rank) {
    const auto size = static_cast<uint32_t>(gathered[rank].size());
    std::memcpy(bytes.data() + rank * sizeof size, &size, sizeof size);
    bytes.insert(bytes.end(), gathered[rank].begin(), gathered[rank].end());
  }
  return bytes;
}

std::optional<std::vector<std::vector<uint8_t>>> readGathered(net::Bytes bytes, uint32_t ranks) {
  const size_t sizesBytes = ranks * sizeof(uint32_t);
  if (bytes.size() < sizesBytes)
    return std::nullopt;
  std::vector<std::vector<uint8_t>> gathered;
  net::Bytes rest = bytes.subspan(sizesBytes);
  for (size_t rank = 0; rank < ranks; ++rank) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + rank * sizeof size, sizeof size);
    if (size > rest.size() || size > mostDataBytes)
      return std::nullopt;
    gathered.emplace_back(rest.begin(), rest.begin() + size);
    rest = rest.subspan(size);
  }
  return rest.empty() ? std::optional(std::move(gathered)) : std::nullopt;
}

std::vector<uint8_t> bytesOf(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string textOf(net::Bytes bytes) {
  std::string text(bytes.begin(), bytes.end());
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; }, '?');
  return text;
}

} // namespace gc3::job
