// SPDX-License-Identifier: Apache-2.0
#include "net/Interfaces.h"

#include <algorithm>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gc3::net {

namespace {

/// Removes the character from the begin of the text. Returns whether it was there.
bool consume(std::string_view &text, char character) {
  const bool begins = text.starts_with(character);
  text.remove_prefix(begins ? 1 : 0);
  return begins;
}

/// Returns false if the address has another family, or is link-local.
bool convert(const sockaddr &from, Address &to) {
  if (from.sa_family == AF_INET) {
    to = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::memcpy(to.data() + 12, &reinterpret_cast<const sockaddr_in &>(from).sin_addr, 4);
    return to[12] != 169 || to[13] != 254;
  }
  if (from.sa_family != AF_INET6)
    return false;
  std::memcpy(to.data(), &reinterpret_cast<const sockaddr_in6 &>(from).sin6_addr, to.size());
  return to[0] != 0xfe || (to[1] & 0xc0) != 0x80;
}

/// Returns 0 for the addresses that other machines try first.
int placeOf(const InterfaceAddress &address, std::string_view list) {
  if (isSelected(list, address.interface))
    return 0;
  return address.interface.starts_with("docker") ? 2 : 1;
}

} // namespace

bool isSelected(std::string_view list, std::string_view interface) {
  if (list.empty())
    return false;
  const bool excludes = consume(list, '^'), isExact = consume(list, '=');
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    if (!name.empty() && (isExact ? interface == name : interface.starts_with(name)))
      return !excludes;
  }
  return excludes;
}

std::vector<InterfaceAddress> findAddresses() {
  std::vector<InterfaceAddress> addresses;
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    return addresses; // ranks of the same machine can still connect
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
  for (const ifaddrs *each = first; each; each = each->ifa_next) {
    InterfaceAddress found{each->ifa_name, {}};
    const bool isUsable = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (isUsable && each->ifa_addr && convert(*each->ifa_addr, found.address))
      addresses.push_back(std::move(found));
  }
  return addresses;
}

void sortAddresses(std::vector<InterfaceAddress> &addresses, std::string_view list) {
  std::stable_sort(addresses.begin(), addresses.end(), [&](const InterfaceAddress &a, const InterfaceAddress &b) {
    return placeOf(a, list) < placeOf(b, list);
  });
}

Endpoint describeThisMachine(uint64_t host, std::string_view list) {
  std::vector<InterfaceAddress> addresses = findAddresses();
  sortAddresses(addresses, list);
  Endpoint endpoint;
  endpoint.host = host;
  endpoint.addressCount = static_cast<uint32_t>(std::min<size_t>(addresses.size(), Endpoint::mostAddresses));
  for (uint32_t i = 0; i < endpoint.addressCount; ++i)
    endpoint.addresses[i] = addresses[i].address;
  return endpoint;
}

} // namespace gc3::net
