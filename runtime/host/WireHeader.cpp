// SPDX-License-Identifier: Apache-2.0
#include "host/WireHeader.h"

#include <cstring>

namespace gc3::host {

HeaderImage writeHeader(const WireHeader &header) {
  return {.magic = HeaderImage::currentMagic,
          .kind = static_cast<uint32_t>(header.kind),
          .token = header.token,
          .process = header.process,
          .place = header.place,
          .call = header.call,
          .callNumber = header.callNumber,
          .number = header.number,
          .bytes = header.bytes};
}

std::optional<WireHeader> readHeader(std::span<const std::byte> bytes) {
  HeaderImage image;
  if (bytes.size() != sizeof image)
    return std::nullopt;
  std::memcpy(&image, bytes.data(), sizeof image);
  if (image.magic != HeaderImage::currentMagic || image.kind >= WireHeader::kindCount)
    return std::nullopt;
  return WireHeader{.kind = static_cast<WireHeader::Kind>(image.kind),
                    .token = image.token,
                    .process = image.process,
                    .place = image.place,
                    .call = image.call,
                    .callNumber = image.callNumber,
                    .number = image.number,
                    .bytes = image.bytes};
}

} // namespace gc3::host
