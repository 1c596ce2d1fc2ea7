// SPDX-License-Identifier: Apache-2.0
// Checks that the programs of one bundle do not conflict.
#pragma once

#include <vector>

namespace gc3 {
class Diagnostics;
}

namespace gc3::ir {

struct ProgramInfo;

/// Reports an error if two programs have the same name, or if two programs implement one collective on the same number
/// of ranks, with the same root (if its calls have one), for overlapping sizes: a runtime could not choose between
/// them. O(n log n).
void checkDispatch(const std::vector<const ProgramInfo *> &programs, Diagnostics &diags);

} // namespace gc3::ir
