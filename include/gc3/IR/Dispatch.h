// SPDX-License-Identifier: Apache-2.0
// What the programs of one bundle must leave to each other.
#pragma once

#include <vector>

namespace gc3 {
class Diagnostics;
}

namespace gc3::ir {

struct ProgramInfo;

/// Names must differ, and no two programs may implement one collective on as many ranks, with the same root if its
/// calls have one, for the same sizes: a runtime could not tell which one is meant. O(n log n).
void checkDispatch(const std::vector<const ProgramInfo *> &programs, Diagnostics &diags);

} // namespace gc3::ir
