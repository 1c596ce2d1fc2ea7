// SPDX-License-Identifier: Apache-2.0
// Checks the meaning of intact sections of a bundle (docs/bundle.md, "What a reader checks"). The validate functions
// return a text with the error and its place, or an empty text. The checks of one section are linear in its size.
#pragma once

#include "bundle/BundleFile.h"

#include <span>
#include <string>

namespace gc3::bundle {

/// Returns whether the names of the program, its collective and its scratch buffers consist of ASCII letters, digits
/// and _, and do not begin with a digit. Messages, tables and command lines rely on this.
bool hasNames(const fbs::Program &program);

/// Returns whether the form of the program's collective, if there is one, has its name, and all arguments by name. Then
/// the collective must have a meaning unless it is standard.
bool hasForm(const fbs::Program &program);

/// Checks the counts, limits and times of a program's entry in the manifest.
std::string validateProgram(const fbs::Program &program);

/// Checks NCCL's times for a collective.
std::string validateBaseline(const fbs::Baseline &baseline);

/// Checks one rank alone: opcodes, buffers, ranges, peers, waits, alias.
std::string validateRank(const fbs::Program &program, const RankView &view);

/// Checks the tables of a postcondition. Does not check whether the chunks that the tables name exist: that depends on
/// the sections of the ranks.
std::string validateCheck(const fbs::Program &program, const CheckView &view);

/// Checks all ranks together: each connection has one sending and one receiving thread block, and the k-th message sent
/// has as many slots as the k-th message received. `views[r]` is rank r, which must have passed validateRank(). Sorts
/// the connections: O(thread blocks log thread blocks + instructions).
std::string validateConnections(std::span<const RankView> views);

} // namespace gc3::bundle
