// SPDX-License-Identifier: Apache-2.0
// Topologies as JSON; docs/synthesis.md has the schema.
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace llvm {
class raw_ostream;
}

namespace gc3::topology {

/// The topology that `text` describes. Nothing if it is none; then `error` says what is wrong, behind the path of the
/// value with which it is wrong ("links[3].from: ...").
std::optional<Topology> parseJson(const std::string &text, std::string &error);

/// The same topology, as JSON that parseJson() reads back.
void printJson(llvm::raw_ostream &out, const Topology &topology);

} // namespace gc3::topology
