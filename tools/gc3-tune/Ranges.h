// SPDX-License-Identifier: Apache-2.0
// Turns a choice into programs with sizes in bytes.
#pragma once

#include "Timing.h"

namespace gc3::tune {

/// Sets the choice and the servings of a contest. Between two measured sizes with different programs, the limit is the
/// size from which on the second program is faster, to about 2 %. The first and the last range have no limit.
void chooseRanges(const CommandLine &line, const Timer &timer, Contest &contest);

} // namespace gc3::tune
