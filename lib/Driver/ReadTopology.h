// SPDX-License-Identifier: Apache-2.0
// Reads the topology that --topology names.
#pragma once

#include "gc3/Topology/Families.h"
#include <optional>
#include <string>

namespace gc3::driver {

/// Returns the topology with this name, or that of a file if the name has a dot or a slash. `N*` before either one
/// makes N machines. The content of a file determines its format. After an error returns nothing and sets `error`. The
/// switches inside a machine always get links.
std::optional<topology::Topology> readTopology(const std::string &name, std::string &error,
                                               topology::SwitchLinks switchLinks = topology::SwitchLinks::All);

/// Prints the names of topologies with a description each.
void listTopologies();

} // namespace gc3::driver
