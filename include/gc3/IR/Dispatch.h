// SPDX-License-Identifier: Apache-2.0
// Checks that the programs of one bundle do not conflict.
#pragma once

#include <cstdint>
#include <vector>

namespace gc3 {
class Diagnostics;
}

namespace gc3::ir {

struct ProgramInfo;

/// What to check in the sizes of a collective's programs. Only .gc3 can say that a gap is intended.
enum class SizeCheck : uint8_t {
  None, ///< a tool replaces the sizes
  Overlaps,
  OverlapsAndGaps
};

/// Reports an error if two programs have the same name. Also reports an error if a runtime could not choose between two
/// programs. This is the case if they implement one collective with one meaning on the same number of ranks, and their
/// sizes overlap, for the same nodes or both for any wiring. With SizeCheck::OverlapsAndGaps, warns of sizes between
/// two such programs for which there is none, unless one of the two allows gaps, or a program for any wiring is for
/// such sizes. If calls name a root, it is the case only for programs with the same root. Also reports an error if
/// collectives with one form differ in meaning. O(n log n), and linear in the postconditions of collectives that are
/// not standard.
void checkDispatch(const std::vector<const ProgramInfo *> &programs, SizeCheck check, Diagnostics &diags);

} // namespace gc3::ir
