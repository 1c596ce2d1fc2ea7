// SPDX-License-Identifier: Apache-2.0
// Checks that the programs of one bundle do not conflict.
#pragma once

#include <vector>

namespace gc3 {
class Diagnostics;
}

namespace gc3::ir {

struct ProgramInfo;

/// Reports an error if two programs have the same name. Also reports an error if a runtime could not choose between two
/// programs: they implement one collective on the same number of ranks, with the same root (if calls name a root) and
/// the same meaning, for overlapping sizes. Also reports an error if collectives with one form differ in meaning.
/// O(n log n), and linear in the postconditions of collectives that are not standard.
void checkDispatch(const std::vector<const ProgramInfo *> &programs, Diagnostics &diags);

} // namespace gc3::ir
