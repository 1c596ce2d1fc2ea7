// SPDX-License-Identifier: Apache-2.0
// What the standard collectives promise, in closed form, against what a bundle says that a program promises. A program
// is proven against the latter alone, and callers of gc3AllReduce count on the former.
#pragma once

#include "core/Request.h"

namespace gc3::core {

/// Empty if `promised`, which is the program's, asks of its outputs exactly what `standard` does with that root (of no
/// meaning where it has none); else what is wrong, with words on what can be done. The program has the collective's
/// shape. Linear in rows, runs and contributions.
std::string standardPromiseProblem(const Program &program, const bundle::CheckView &promised,
                                   const common::StandardCollective &standard, uint32_t root);

} // namespace gc3::core
