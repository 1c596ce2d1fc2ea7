// SPDX-License-Identifier: Apache-2.0
// Topologies as JSON; docs/synthesis.md has the schema.
#pragma once

#include "gc3/Topology/Topology.h"
#include <optional>

namespace llvm {
class raw_ostream;
}

namespace gc3::topology {

/// Returns the topology that `text` describes. If the text is not valid, returns nothing and sets `error` to the path
/// of the wrong value, followed by the fault ("links[3].from: ...").
std::optional<Topology> parseJson(const std::string &text, std::string &error);

/// Returns true if JSON is nested more deeply than any file that gc3 reads. LLVM's parser recurses, so such a text
/// could overflow its stack. Linear in the text.
bool isTooDeep(const std::string &text);

/// Prints `topology` as JSON that parseJson() reads back.
void printJson(llvm::raw_ostream &out, const Topology &topology);

} // namespace gc3::topology
