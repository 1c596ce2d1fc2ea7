// SPDX-License-Identifier: Apache-2.0
#include "job/UniqueId.h"

#include "bundle/Container.h"

#include <algorithm>
#include <cstring>

namespace gc3::job {

using core::Outcome;

namespace {

constexpr uint64_t uniqueIdMagic = 0x64'69'75'6a'33'63'67'00; // "\0gc3juid" in little-endian order
constexpr uint32_t uniqueIdVersion = 1;

struct UniqueIdImage {
  uint64_t magic;
  uint32_t version, unused;
  net::Endpoint rank0;
  std::array<uint64_t, 9> zeros;
  uint64_t checksum; ///< of all bytes before
};
static_assert(sizeof(UniqueIdImage) == uniqueIdBytes, "no padding");

uint64_t checksumOf(const UniqueIdImage &image) {
  return bundle::checksum(&image, offsetof(UniqueIdImage, checksum));
}

bool isSound(const UniqueIdImage &image) {
  const net::Endpoint &rank0 = image.rank0;
  return image.unused == 0 && std::ranges::count(image.zeros, 0U) == std::ssize(image.zeros) && rank0.port >= 1 &&
         rank0.port <= UINT16_MAX && rank0.addressCount <= net::Endpoint::mostAddresses;
}

} // namespace

UniqueId writeUniqueId(const net::Endpoint &rank0) {
  UniqueIdImage image{uniqueIdMagic, uniqueIdVersion, 0, rank0, {}, 0};
  image.checksum = checksumOf(image);
  UniqueId bytes{};
  std::memcpy(bytes.data(), &image, sizeof image);
  return bytes;
}

core::Result<net::Endpoint> readUniqueId(const UniqueId &bytes) {
  UniqueIdImage image{};
  std::memcpy(&image, bytes.data(), sizeof image);
  if (image.magic != uniqueIdMagic)
    return Outcome{gc3InvalidArgument, "the bytes are no unique id; gc3GetUniqueId makes one on rank 0"};
  if (image.version != uniqueIdVersion)
    return Outcome{gc3InvalidArgument, "the unique id is of another version of gc3 (format " +
                                           std::to_string(image.version) + ", here " + std::to_string(uniqueIdVersion) +
                                           ")"};
  if (image.checksum != checksumOf(image) || !isSound(image))
    return Outcome{gc3InvalidArgument, "the unique id is damaged; all of its " + std::to_string(uniqueIdBytes) +
                                           " bytes must reach the other ranks"};
  return image.rank0;
}

} // namespace gc3::job
