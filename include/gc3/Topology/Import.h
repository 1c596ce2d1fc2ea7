// SPDX-License-Identifier: Apache-2.0
// Topologies in the formats of other tools (docs/topology-files.md).
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace gc3::topology {

/// Returns the topology that a file describes. Its content determines the format: JSON that printJson() prints, NCCL's
/// XML, or the output of `nvidia-smi topo -m`. `name` becomes the name of a topology that has none in its file. If the
/// text is not valid, returns nothing and sets `error` to the path or the line of the fault, and the fault.
std::optional<Topology> parseFile(const std::string &text, const std::string &name, std::string &error);

/// Returns the machine whose table `nvidia-smi topo -m` printed. Errors begin with the line.
std::optional<Topology> parseNvidiaSmi(const std::string &text, std::string &error);

/// Returns the machine that NCCL's XML describes. Errors begin with the line.
std::optional<Topology> parseNcclXml(const std::string &text, std::string &error);

} // namespace gc3::topology
