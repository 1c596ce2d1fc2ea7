// SPDX-License-Identifier: Apache-2.0
// The addresses of this machine, in the order in which other machines try them.
#pragma once

#include "net/Endpoint.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::net {

/// Returns whether NCCL_SOCKET_IFNAME selects a network interface. The list has prefixes of names, between commas. It
/// begins with `^` if it excludes interfaces, then with `=` if it has whole names. An empty list selects none.
bool isSelected(std::string_view list, std::string_view interface);

/// An address of a network interface.
struct InterfaceAddress {
  std::string interface;
  Address address{};
};

/// Returns the addresses of all interfaces that are up, except loopback and link-local addresses, in the system's
/// order.
std::vector<InterfaceAddress> findAddresses();

/// Orders the addresses: those that the list selects come first, those of Docker's interfaces last.
void sortAddresses(std::vector<InterfaceAddress> &addresses, std::string_view list);

/// Returns an endpoint with the number and the addresses of this machine, in the order of sortAddresses().
Endpoint describeThisMachine(uint64_t host, std::string_view list);

} // namespace gc3::net
