// SPDX-License-Identifier: Apache-2.0
#include "host/WireHeader.h"

#include <cstring>

namespace gc3::host {

HeaderImage writeHeader(const WireHeader &header) {
  return {HeaderImage::currentMagic,
          static_cast<uint32_t>(header.kind),
          header.token,
          header.process,
          header.place,
          header.call,
          header.number};
}

std::optional<WireHeader> readHeader(std::span<const std::byte> bytes) {
  HeaderImage image;
  if (bytes.size() != sizeof image)
    return std::nullopt;
  std::memcpy(&image, bytes.data(), sizeof image);
  if (image.magic != HeaderImage::currentMagic || image.kind >= WireHeader::kindCount)
    return std::nullopt;
  return WireHeader{
      static_cast<WireHeader::Kind>(image.kind), image.token, image.process, image.place, image.call, image.number};
}

} // namespace gc3::host
