// SPDX-License-Identifier: Apache-2.0
// Topologies that have a name: `dgx1`, `ring:8`, `torus:4x4x4`, `2*dgx-a100`.
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace gc3::topology {

/// Which switches get links (Topology::expandSwitches). A network of N machines has N² links for each rank of one.
enum class SwitchLinks : uint8_t {
  All,      ///< all, as a search needs them
  NoNetwork ///< all but the network of `N*FAMILY`, which may then have more machines
};

/// Returns the topology called `name`: a family, or `N*FAMILY` for N copies of a family that network cards connect. If
/// there is none, returns nothing and sets `error` to the reason.
std::optional<Topology> named(const std::string &name, std::string &error, SwitchLinks switchLinks = SwitchLinks::All);

/// Joins `machines` copies of a machine by its network cards. All ranks reach each other. A search uses only the links
/// of rails: from rank i of a machine to rank i of every other machine, over the cards of both machines.
Topology joinByNetwork(Topology machine, uint32_t machines);

/// Removes "N*" from the beginning of `name` and returns N. Returns nothing if the name does not begin so.
std::optional<uint32_t> splitMachines(std::string &name);

/// Returns `machines` copies of `inside` that its network cards connect. If there are fewer than 2 machines, or too
/// many ranks or links, returns nothing and sets `error`.
std::optional<Topology> repeated(const Topology &inside, uint32_t machines, std::string &error,
                                 SwitchLinks switchLinks = SwitchLinks::All);

/// Returns one line for each family: its spelling, a tab, and a description.
std::string familiesHelp();

} // namespace gc3::topology
