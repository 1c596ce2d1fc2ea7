// SPDX-License-Identifier: Apache-2.0
// What the sections of a bundle must mean, beyond being intact (docs/bundle.md, the last line of "What a reader
// checks"). Each function returns what is wrong and where, or an empty string. Linear in the section.
#pragma once

#include "bundle/BundleFile.h"

#include <span>
#include <string>

namespace gc3::bundle {

/// Whether the program, its collective and its scratch buffers are called by words, which messages and tables can show
/// and command lines ask for: ASCII letters, digits and _, no digit first.
bool hasNames(const fbs::Program &program);

/// A line of the manifest: counts and limits.
std::string validateProgram(const fbs::Program &program);

/// One rank alone: opcodes, buffers, ranges, peers, waits, alias.
std::string validateRank(const fbs::Program &program, const RankView &view);

/// The postcondition's tables. Whether its chunks exist depends on the ranks and is left to the checker.
std::string validateCheck(const fbs::Program &program, const CheckView &view);

/// All ranks together: each connection has one sending and one receiving thread block, and the k-th message sent has as
/// many slots as the k-th received. `views[r]` is rank r, already valid alone. Sorts the connections: O(thread blocks
/// log thread blocks + instructions).
std::string validateConnections(std::span<const RankView> views);

} // namespace gc3::bundle
