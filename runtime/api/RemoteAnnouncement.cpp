// SPDX-License-Identifier: Apache-2.0
#include "api/RemoteAnnouncement.h"

#include "core/Element.h"

#include <cstring>

namespace gc3::api {

namespace {

/// The text of the request follows. Ranks of one host never write to the memory of another, so this has no addresses
/// except those of buffers, whose overlap all ranks check.
struct AnnouncementImage {
  uint64_t call = 0, choice = 0, send = 0, recv = 0;
  uint64_t timedNumber = 0;
  float microseconds = 0;
  uint8_t isInPlace = 0, isShared = 0;
  uint8_t kind = 0, isPreMulSum = 0;
  uint64_t count = 0;
  int32_t type = 0, op = 0, root = 0;
  uint32_t scalarType = 0;
};
static_assert(sizeof(AnnouncementImage) == 72, "no padding");

bool isValid(const AnnouncementImage &image, size_t nameBytes) {
  return image.isInPlace <= 1 && image.isShared <= 1 && image.kind < core::callKindCount && image.isPreMulSum <= 1 &&
         image.scalarType < core::elementTypeCount && nameBytes <= RequestRecord::mostNameBytes;
}

} // namespace

std::vector<std::byte> writeAnnouncement(const Announcement &from) {
  AnnouncementImage image;
  image.call = from.call, image.choice = from.choice;
  image.send = reinterpret_cast<uint64_t>(from.send), image.recv = reinterpret_cast<uint64_t>(from.recv);
  image.timedNumber = from.timed.number, image.microseconds = from.timed.microseconds;
  image.isInPlace = from.timed.isInPlace, image.isShared = from.timed.isShared;
  size_t nameBytes = 0;
  if (from.call == 0) {
    const RequestRecord &request = from.request;
    image.kind = static_cast<uint8_t>(request.kind), image.isPreMulSum = request.isPreMulSum;
    image.count = request.count;
    image.type = request.type, image.op = request.op, image.root = request.root;
    image.scalarType = static_cast<uint32_t>(request.scalarType);
    nameBytes = request.nameBytes;
  }
  std::vector<std::byte> bytes(sizeof image + nameBytes);
  std::memcpy(bytes.data(), &image, sizeof image);
  std::memcpy(bytes.data() + sizeof image, from.request.name, nameBytes);
  return bytes;
}

bool readAnnouncement(std::span<const std::byte> bytes, Announcement &to) {
  AnnouncementImage image;
  if (bytes.size() < sizeof image)
    return false;
  std::memcpy(&image, bytes.data(), sizeof image);
  const std::span<const std::byte> name = bytes.subspan(sizeof image);
  if (!isValid(image, name.size()))
    return false;
  to.call = image.call, to.choice = image.choice;
  to.send = reinterpret_cast<const void *>(image.send), to.recv = reinterpret_cast<void *>(image.recv);
  to.sharing = host::Sharing::None, to.arena = {};
  to.timed = {image.timedNumber, image.microseconds, image.isInPlace != 0, image.isShared != 0};
  RequestRecord &request = to.request;
  request.kind = static_cast<core::CallKind>(image.kind), request.isPreMulSum = image.isPreMulSum != 0;
  request.count = image.count;
  request.type = image.type, request.op = image.op, request.root = image.root;
  request.scalarType = static_cast<core::ElementType>(image.scalarType);
  request.nameBytes = static_cast<uint16_t>(name.size());
  std::memcpy(request.name, name.data(), name.size());
  return true;
}

} // namespace gc3::api
