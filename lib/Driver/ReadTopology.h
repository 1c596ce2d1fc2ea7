// SPDX-License-Identifier: Apache-2.0
// Reads the topology that --topology names.
#pragma once

#include "gc3/Topology/Families.h"
#include <optional>
#include <string>

namespace gc3::driver {

/// Returns the topology with this name, or the topology of a file if the name ends with `.json`. After an error returns
/// nothing and sets `error`. The switches of a file always get links.
std::optional<topology::Topology> readTopology(const std::string &name, std::string &error,
                                               topology::SwitchLinks switchLinks = topology::SwitchLinks::All);

/// Prints the names of topologies with a description each.
void listTopologies();

} // namespace gc3::driver
