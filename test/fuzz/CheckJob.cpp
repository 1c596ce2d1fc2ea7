// SPDX-License-Identifier: Apache-2.0
#include "CheckJob.h"

#include "job/Identity.h"
#include "job/Launcher.h"
#include "job/Message.h"
#include "job/UniqueId.h"

#include <algorithm>
#include <cstring>

namespace gc3::test {

namespace {

using namespace job;

constexpr uint32_t ranks = 3;

std::string checkUniqueId(net::Bytes bytes, uint32_t &accepted) {
  UniqueId id{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.size()), id.begin());
  const core::Result<net::Endpoint> read = readUniqueId(id);
  if (!read.ok())
    return {};
  ++accepted;
  if (read->port < 1 || read->port > UINT16_MAX || read->addressCount > net::Endpoint::mostAddresses)
    return "a unique id is out of range";
  return writeUniqueId(*read) == id ? "" : "a unique id changes when it is read";
}

std::string checkIdentity(net::Bytes bytes, uint32_t &accepted) {
  const std::optional<Identity> read = readIdentity(bytes);
  if (!read)
    return {};
  ++accepted;
  return std::ranges::equal(writeIdentity(*read), bytes) ? "" : "an identity changes when it is read";
}

std::string checkHeader(net::Bytes bytes, uint32_t &accepted) {
  HeaderBytes header{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), header.size()), header.begin());
  const std::optional<Announcement> read = readHeader(header, ranks);
  if (!read)
    return {};
  ++accepted;
  if (read->message.rank >= ranks || read->bytes > mostGatheredBytes)
    return "a message is out of range";
  if (read->bytes > mostDataBytes)
    return {}; // too large to write it often
  Message message = read->message;
  message.bytes.resize(read->bytes);
  return std::ranges::equal(net::Bytes(writeMessage(message)).first(headerBytes), header)
             ? ""
             : "a header changes when it is read";
}

std::string checkGathered(net::Bytes bytes, uint32_t &accepted) {
  const auto read = readGathered(bytes, ranks);
  if (!read)
    return {};
  ++accepted;
  if (read->size() != ranks)
    return "a gather has another number of ranks";
  return std::ranges::equal(writeGathered(*read), bytes) ? "" : "a gather changes when it is read";
}

std::string checkLaunch(net::Bytes bytes, uint32_t &accepted) {
  std::string text(bytes.begin(), bytes.end());
  text += '\0';
  std::vector<const char *> entries;
  for (size_t begin = 0; begin < text.size(); begin += std::strlen(text.data() + begin) + 1)
    entries.push_back(text.data() + begin);
  const auto read = readLaunch(entries);
  if (!read.ok())
    return read.outcome().text.empty() ? "an error of a launch has no text" : "";
  if (!*read)
    return {};
  ++accepted;
  const Launch &launch = **read;
  const bool isInRange = launch.rank < launch.ranks && launch.localRank < std::max(launch.localRanks, 1U) &&
                         launch.localRanks <= launch.ranks && launch.firstPort != 0 &&
                         launch.firstPort + Launch::portCount - 1 <= UINT16_MAX && !launch.rootHost.empty() &&
                         !launch.key.empty();
  return isInRange ? "" : "a launch is out of range";
}

} // namespace

std::string checkJob(net::Bytes bytes, uint32_t &accepted) {
  if (bytes.empty())
    return {};
  const net::Bytes rest = bytes.subspan(1);
  switch (bytes[0] % 5) {
  case 0: return checkUniqueId(rest, accepted);
  case 1: return checkIdentity(rest, accepted);
  case 2: return checkHeader(rest, accepted);
  case 3: return checkGathered(rest, accepted);
  }
  return checkLaunch(rest, accepted);
}

} // namespace gc3::test
