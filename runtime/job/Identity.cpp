// SPDX-License-Identifier: Apache-2.0
#include "job/Identity.h"

#include "bundle/Container.h"
#include "core/Settings.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace gc3::job {

namespace {

constexpr uint32_t identityMagic = 0x31'69'63'67; // "gci1" in little-endian order

struct IdentityImage {
  uint32_t magic, process;
  uint64_t host;
};
static_assert(sizeof(IdentityImage) == 16, "no padding");

/// Returns a text that names the namespace of this process, such as "pid"; empty: unknown.
std::string namespaceText(const std::string &kind) {
  struct stat status {};
  if (stat(("/proc/self/ns/" + kind).c_str(), &status) != 0)
    return {};
  return kind + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + " ";
}

uint64_t hostNumber() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  if (!(file >> text))
    return 0;
  text += " " + std::to_string(geteuid()) + " ";
  for (const char *kind : {"pid", "user", "net"}) {
    const std::string part = namespaceText(kind);
    if (part.empty())
      return 0;
    text += part;
  }
  text += core::settings().text(core::Setting::HostId);
  return bundle::checksum(text.data(), text.size());
}

std::string hostName() {
  if (const std::string &id = core::settings().text(core::Setting::HostId); !id.empty())
    return id.substr(0, mostHostNameBytes);
  std::array<char, mostHostNameBytes + 1> name{};
  if (gethostname(name.data(), mostHostNameBytes) != 0)
    return "unknown";
  return name.data();
}

} // namespace

Identity identifyThisProcess() {
  return {hostNumber(), static_cast<uint32_t>(getpid()), hostName()};
}

std::string describe(const Identity &identity) {
  return "process " + std::to_string(identity.process) + " on host " + identity.hostName;
}

std::vector<uint8_t> writeIdentity(const Identity &identity) {
  const IdentityImage image{identityMagic, identity.process, identity.host};
  const size_t nameBytes = std::min(identity.hostName.size(), mostHostNameBytes);
  std::vector<uint8_t> bytes(sizeof image + nameBytes);
  std::memcpy(bytes.data(), &image, sizeof image);
  std::memcpy(bytes.data() + sizeof image, identity.hostName.data(), nameBytes);
  return bytes;
}

std::optional<Identity> readIdentity(net::Bytes bytes) {
  IdentityImage image{};
  if (bytes.size() < sizeof image || bytes.size() > sizeof image + mostHostNameBytes)
    return std::nullopt;
  std::memcpy(&image, bytes.data(), sizeof image);
  if (image.magic != identityMagic)
    return std::nullopt;
  const net::Bytes name = bytes.subspan(sizeof image);
  return Identity{image.host, image.process, {name.begin(), name.end()}};
}

} // namespace gc3::job
