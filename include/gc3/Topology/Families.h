// SPDX-License-Identifier: Apache-2.0
// Topologies that have a name: `dgx1`, `ring:8`, `torus:4x4x4`, `2*dgx-a100`.
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace gc3::topology {

/// The topology that `name` names: a family, or `N*FAMILY` for N of one joined by their network cards. Nothing if there
/// is none; then `error` says why.
std::optional<Topology> named(const std::string &name, std::string &error);

/// A line for each family: how it is written, a tab, and what it is.
std::string familiesHelp();

} // namespace gc3::topology
