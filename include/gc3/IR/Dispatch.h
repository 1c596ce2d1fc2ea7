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
/// programs: they implement one collective on the same number of ranks, with the same root (if calls name a root), for
/// overlapping sizes. O(n log n).
void checkDispatch(const std::vector<const ProgramInfo *> &programs, Diagnostics &diags);

} // namespace gc3::ir
