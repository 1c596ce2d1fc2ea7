// SPDX-License-Identifier: Apache-2.0
// LL needs memory that the sender can reach. LL128 also needs links that keep lines whole: those inside a host, except
// PCIe. The runtime can't ask for the links of GPUs on other hosts.
#include "gc3/Simulate/Carries.h"

namespace gc3::simulate {

using kernel::Protocol;
using topology::LinkKind;

std::string whyNotCarried(const Fabric &fabric, Protocol protocol, uint32_t from, uint32_t to) {
  if (protocol == Protocol::Simple)
    return {};
  const std::optional<Route> route = fabric.route(from, to);
  if (!route)
    return {};
  const std::string pair = "ranks " + std::to_string(from) + " and " + std::to_string(to);
  if (route->kind == LinkKind::Network)
    return "a network joins " + pair;
  if (protocol == Protocol::LL)
    return {};
  if (route->kind == LinkKind::Pcie)
    return "PCIe joins " + pair;
  return fabric.topology().haveOneHost(from, to) ? "" : pair + " are on different hosts";
}

} // namespace gc3::simulate
