// SPDX-License-Identifier: Apache-2.0
// Checks the meaning of intact sections of a bundle (docs/bundle.md, the last line of "What a reader checks"). Each
// function returns the error and its place, or an empty string. Linear in the section.
#pragma once

#include "bundle/BundleFile.h"

#include <span>
#include <string>

namespace gc3::bundle {

/// Returns whether the names of the program, its collective and its scratch buffers consist of ASCII letters, digits
/// and _, and do not begin with a digit. Messages, tables and command lines rely on that.
bool hasNames(const fbs::Program &program);

/// Checks an entry of the manifest: counts and limits.
std::string validateProgram(const fbs::Program &program);

/// Checks one rank alone: opcodes, buffers, ranges, peers, waits, alias.
std::string validateRank(const fbs::Program &program, const RankView &view);

/// Checks the tables of the postcondition. Does not check whether its chunks exist, which depends on the ranks.
std::string validateCheck(const fbs::Program &program, const CheckView &view);

/// Checks all ranks together: each connection has one sending and one receiving thread block, and the k-th message sent
/// has as many slots as the k-th message received. `views[r]` is rank r, which must have passed validateRank(). Sorts
/// the connections: O(thread blocks log thread blocks + instructions).
std::string validateConnections(std::span<const RankView> views);

} // namespace gc3::bundle
